import java.io.IOException;
import java.math.BigInteger;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.ECParameterSpec;
import java.security.spec.ECPoint;
import java.security.spec.ECPublicKeySpec;
import java.text.Normalizer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * A gate for Java 17 that needs only the JDK: anybody with a good pass goes on, everybody else waits.
 *
 * <p>Passes are checked here, with the keys that Waitroom publishes: a request needs no call. It
 * knows no servlet API, so that two files (this one and WaitroomSessions.java) fit every container;
 * docs/howto-other-stacks.md has the lines that turn it into a servlet filter, and Site.java uses it
 * with the JDK's own server.
 */
public final class WaitroomFilter {
    private static final String ALGORITHM = "ES256"; // Waitroom's default
    private static final String TYPE = "waitroom-pass+jwt";
    private static final int LEEWAY_S = 5;
    private static final int LONGEST_PASS = 2048;
    private static final String CODE = "waitroom_code";
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final Pattern ROOM = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}");
    private static final Pattern SECRET = Pattern.compile("[A-Za-z0-9_-]{32}");
    private static final Pattern CODE_PART = Pattern.compile("(?:^|&)" + CODE + "=([A-Za-z0-9._~-]{16,128})(?=&|$)");
    private static final int MOST_TRIED = 4; // cookies that one request may show

    /**
     * The facts of a request; {@code rawPath} and {@code rawQuery} as received, the query may be null.
     * {@code user} is the id of who has signed in at the site, null for nobody.
     */
    public record Facts(String method, String rawPath, String rawQuery, Function<String, List<String>> headers, String user) {
        public Facts(String method, String rawPath, String rawQuery, Function<String, List<String>> headers) {
            this(method, rawPath, rawQuery, headers, null);
        }

        private String header(String name) {
            List<String> found = headers.apply(name);
            return found == null || found.isEmpty() ? "" : String.join(", ", found);
        }

        private boolean isSafe() {
            return method.equals("GET") || method.equals("HEAD");
        }

        boolean isProgram() {
            for (String name : List.of("X-Requested-With", "Waitroom-Pass", "Waitroom-Ticket", "Waitroom-Key")) {
                if (!header(name).isEmpty()) return true;
            }
            String accept = header("Accept").toLowerCase(Locale.ROOT);
            return accept.contains("json") && !accept.contains("text/html");
        }
    }

    /** An answer in place of the site's. */
    public record Answer(int status, Map<String, String> headers, String body) {}

    /** What to do with a request: "free", "pass", "wait" at a url, "redeem" a code and go to a url, or "refuse". */
    record Decision(String what, String room, String url, String code, String account, WaitroomSessions.Pass pass, boolean renew, boolean finish) {
        Decision(String what, String room, String url, String code, String account) {
            this(what, room, url, code, account, null, false, false);
        }
    }

    /** A path whose answer ends the session; {@code method} is null for any. */
    private record End(String method, Paths paths) {
        static End of(String text) {
            String[] words = text.strip().split(" +", 2);
            String path = words[words.length - 1];
            return new End(words.length == 1 ? null : words[0].toUpperCase(Locale.ROOT), new Paths(Map.of(path, "end"), List.of()));
        }

        boolean covers(Facts facts) {
            return (method == null || method.equals(facts.method())) && paths.of(facts.rawPath()) != null;
        }
    }

    /** A request: its answer, or what goes with the site's. */
    public final class Visit {
        private final Answer answer;
        private final WaitroomSessions.Pass pass;
        private final boolean ends;
        private boolean done;

        private Visit(Answer answer, WaitroomSessions.Pass pass, boolean ends) {
            this.answer = answer;
            this.pass = pass;
            this.ends = ends;
        }

        /** Returns the answer in place of the site's, or null to go on. */
        public Answer answer() {
            return answer;
        }

        /** Ends the session, before anything is sent: its place goes to the next person. It does not wait for the call. */
        public synchronized void finish() {
            if (pass == null || done) return;
            done = true;
            sessions.finish(pass);
        }

        /** Returns the values of Set-Cookie that go with the site's response; {@code status} is that response's. */
        public synchronized List<String> cookies(int status) {
            if (ends && status < 400) finish();
            return cookies();
        }

        /** The same for containers that send headers before a status is known: nothing ends by its path. */
        public synchronized List<String> cookies() {
            if (pass == null) return List.of();
            if (done) return List.of(cookie("waitroom-pass-" + pass.room(), "", 0), cookie("waitroom-ticket-" + pass.room(), "", 0));
            WaitroomSessions.Pass fresh = sessions.renewed(pass);
            return fresh == null ? List.of() : List.of(passCookie(fresh));
        }
    }

    private final URI url;
    private final String publicUrl;
    private final String site;
    private final boolean open;
    private final Paths paths;
    private final Keys keys;
    private final List<String> rooms;
    private final WaitroomSessions sessions;
    private final Map<String, ClaimKey> claimKeys = new HashMap<>();
    private List<End> ends = List.of();
    private boolean renews = true;
    private boolean strict;

    /**
     * @param url Waitroom, as this server reaches it
     * @param publicUrl Waitroom, as browsers reach it
     * @param site the origin of this site: people are sent back there, whatever Host says
     * @param rules path to room; the longest match counts
     * @param openWhenAway let newcomers in while Waitroom cannot be reached
     */
    public WaitroomFilter(String url, String publicUrl, String site, Map<String, String> rules, boolean openWhenAway) {
        this(url, publicUrl, site, rules, List.of(), openWhenAway);
    }

    /** The same, with free parts below a rule. */
    public WaitroomFilter(String url, String publicUrl, String site, Map<String, String> rules, List<String> bypassPaths,
            boolean openWhenAway) {
        for (String room : rules.values()) {
            if (!ROOM.matcher(room).matches()) throw new IllegalArgumentException("not the name of a room: " + room);
        }
        this.url = URI.create(url + "/");
        this.publicUrl = publicUrl;
        this.site = site;
        this.open = openWhenAway;
        this.keys = new Keys(this.url.resolve(".well-known/jwks.json"));
        this.paths = new Paths(rules, bypassPaths);
        this.rooms = rules.values().stream().distinct().sorted().toList();
        this.sessions = new WaitroomSessions(this.url, keys.client, Keys.DEADLINE, rooms, keys::knownAway, (room, text) ->
            verify(keys::of, keys.issuer, room, text, System.currentTimeMillis() / 1000));
    }

    /** Paths whose answer ends the session: {@code "POST /order"} or {@code "/thanks"}. */
    public WaitroomFilter withFinish(List<String> texts) {
        ends = texts.stream().map(End::of).toList();
        return this;
    }

    /** Ask Waitroom whether a session is still valid, once a second per pass. */
    public WaitroomFilter withStrict() {
        strict = true;
        return this;
    }

    /** Do not extend the sessions of active visitors. */
    public WaitroomFilter withoutRenewal() {
        renews = false;
        return this;
    }

    /** One account, one place: the claim key of each room, as {@code waitroom claim-key} prints it; then give Facts a user. */
    public WaitroomFilter withClaimKeys(Map<String, String> keysByRoom) {
        keysByRoom.forEach((room, text) -> claimKeys.put(room, new ClaimKey(text)));
        return this;
    }

    /** Returns the visit of a request: with the answer for somebody who must wait, else without one. */
    public Visit visit(Facts facts) {
        long now = System.currentTimeMillis() / 1000;
        Decision decision = judge(facts, sessions::read, now);
        sessions.tidy();
        boolean refused = strict && decision.pass() != null && !sessions.goesOn(decision.pass());
        if (refused) decision = judge(facts, (room, text) -> null, now);
        if (decision.renew()) sessions.renew(decision.pass());
        Answer answer = switch (decision.what()) {
            case "refuse" -> problem(400, "unreadable_path", "the path can be read in more ways than one", "");
            case "redeem" -> redeemed(site + decision.url(), decision.code(), secretOf(facts));
            case "wait" -> waiting(facts, decision, now, open && !refused);
            default -> null;
        };
        return new Visit(answer, decision.pass(), decision.finish());
    }

    /** Returns the answer for somebody without a pass; null lets them in while Waitroom is away. */
    private Answer waiting(Facts facts, Decision decision, long now, boolean letsIn) {
        if (keys.away()) return letsIn ? null : away(facts);
        String account = decision.account();
        String claim = account == null ? null : claimKeys.get(decision.room()).claim(decision.room(), account, now);
        if (!facts.isProgram()) return waitingPage(decision.url(), secretOf(facts), claim);
        String join = publicUrl + "/v1/rooms/" + decision.room() + "/tickets";
        String more = ",\"room\":\"" + decision.room() + "\",\"join\":\"" + join + "\",\"url\":\"" + decision.url() + "\"";
        if (claim != null) more += ",\"claim\":\"" + claim + "\""; // for the body of the join
        return problem(429, "waiting", "this needs a pass: join the room, then send it as Waitroom-Pass", more);
    }

    /** Decides without asking anybody; {@code read} returns the pass of a room in a text, or null. */
    Decision judge(Facts facts, BiFunction<String, String, WaitroomSessions.Pass> read, long now) {
        Paths.Place place;
        try {
            place = paths.of(facts.rawPath());
        } catch (IllegalArgumentException unreadable) {
            return new Decision("refuse", null, null, null, null);
        }
        boolean finish = ends.stream().anyMatch(end -> end.covers(facts));
        if (place == null && !finish) return new Decision("free", null, null, null, null);
        String query = facts.rawQuery() == null ? "" : facts.rawQuery();
        Matcher code = CODE_PART.matcher(query);
        if (place != null && facts.isSafe() && code.find()) {
            return new Decision("redeem", null, Returns.onSite(facts.rawPath(), query), code.group(1), null);
        }
        for (String room : place == null ? rooms : List.of(place.room())) {
            WaitroomSessions.Pass pass = ownPass(facts, room, read);
            if (pass == null) continue;
            boolean late = renews && !finish && pass.hasSession() && pass.isLate(now);
            return new Decision("pass", room, null, null, null, pass, late, finish);
        }
        // A browser sends no cookie with a preflight.
        boolean preflight = facts.method().equals("OPTIONS") && !facts.header("Origin").isEmpty()
            && !facts.header("Access-Control-Request-Method").isEmpty();
        if (place == null || preflight) return new Decision("free", null, null, null, null);
        // A form cannot be sent again from the waiting page.
        String start = place.path().contains("*") ? "/" : place.path();
        String back = facts.isSafe() ? Returns.to(site, facts.rawPath(), query) : Returns.to(site, start, "");
        String page = Returns.page(publicUrl, place.room(), back);
        return new Decision("wait", place.room(), page, null, accountOf(facts, place.room()));
    }

    /** Who has signed in has the pass of their account, or one without a session, of a minute in which Redis was away. */
    private WaitroomSessions.Pass ownPass(Facts facts, String room, BiFunction<String, String, WaitroomSessions.Pass> read) {
        String account = accountOf(facts, room);
        for (String text : shown(facts, room)) {
            WaitroomSessions.Pass pass = read.apply(room, text);
            if (pass != null && (account == null || account.equals(pass.ticketId()) || !pass.hasSession())) return pass;
        }
        return null;
    }

    private String accountOf(Facts facts, String room) {
        ClaimKey key = claimKeys.get(room);
        boolean signedIn = key != null && facts.user() != null && !facts.user().isEmpty();
        return signedIn ? key.account(room, facts.user()) : null;
    }

    /** Returns the pass of this room in a text, or null if it is none: signature, kind, issuer, room and end. */
    static WaitroomSessions.Pass verify(Function<String, PublicKey> keys, String issuer, String room, String text, long now) {
        try {
            String[] parts = text.split("\\.", -1);
            if (text.length() > LONGEST_PASS || parts.length != 3) return null;
            Map<String, Object> head = Json.object(decoded(parts[0]));
            // The key fixes the algorithm; what a pass claims is only compared.
            if (!ALGORITHM.equals(head.get("alg")) || !TYPE.equals(head.get("typ")) || head.size() != 3) return null;
            PublicKey key = head.get("kid") instanceof String kid ? keys.apply(kid) : null;
            byte[] signed = (parts[0] + "." + parts[1]).getBytes(StandardCharsets.US_ASCII);
            if (key == null || !Keys.signedBy(key, signed, decoded(parts[2]))) return null;
            Map<String, Object> claims = Json.object(decoded(parts[1]));
            if (room.equals(claims.get("aud"))
                && claims.get("iss") instanceof String from && (issuer == null || issuer.equals(from))
                && claims.get("sub") instanceof String ticket && ticket.matches("[A-Za-z0-9_-]{1,64}")
                && claims.get("jti") instanceof String session && session.matches("[0-9]{1,20}")
                && claims.get("exp") instanceof Long exp && now < exp + LEEWAY_S
                && claims.get("iat") instanceof Long iat && iat <= now + LEEWAY_S
                && claims.getOrDefault("nbf", iat) instanceof Long begin && begin <= now + LEEWAY_S) {
                return new WaitroomSessions.Pass(room, ticket, session, iat, exp, text);
            }
            return null;
        } catch (IllegalArgumentException | GeneralSecurityException wrong) {
            return null;
        }
    }

    /** The last character has spare bits, which would allow several spellings of one pass. */
    private static byte[] decoded(String part) {
        byte[] found = Base64.getUrlDecoder().decode(part);
        if (!Base64.getUrlEncoder().withoutPadding().encodeToString(found).equals(part)) {
            throw new IllegalArgumentException("not spelled as a pass is");
        }
        return found;
    }

    /** The texts that may be passes; at most four cookies, because another page may have planted some. */
    private static List<String> shown(Facts facts, String room) {
        List<String> texts = new ArrayList<>();
        List<String> lines = facts.headers().apply("Cookie");
        for (String name : List.of("__Host-waitroom-pass-" + room, "waitroom-pass-" + room)) { // the second is for plain http
            for (String part : String.join(";", lines == null ? List.of() : lines).split(";")) {
                String[] pair = part.strip().split("=", 2);
                if (pair.length == 2 && pair[0].equals(name) && !pair[1].isEmpty()) texts.add(pair[1].replaceAll("^[ \"]+|[ \"]+$", ""));
            }
        }
        if (texts.size() > MOST_TRIED) texts.subList(MOST_TRIED, texts.size()).clear();
        texts.add(facts.header("Waitroom-Pass"));
        String[] bearer = facts.header("Authorization").split(" ", 2);
        if (bearer.length == 2 && bearer[0].equalsIgnoreCase("bearer")) texts.add(bearer[1].strip());
        texts.removeIf(String::isEmpty);
        return texts;
    }

    /** The secret by which codes belong to a browser: somebody else's code leads nobody into their session. */
    private String secretOf(Facts facts) {
        String known = (site.startsWith("https:") ? "__Host-" : "") + "waitroom-browser=";
        List<String> lines = facts.headers().apply("Cookie");
        for (String part : String.join(";", lines == null ? List.of() : lines).split(";")) {
            String text = part.strip();
            if (text.startsWith(known) && SECRET.matcher(text.substring(known.length())).matches()) {
                return text.substring(known.length());
            }
        }
        return null;
    }

    /** Sends a browser to the waiting page, with the hash of its secret, and with who it is. */
    private Answer waitingPage(String page, String known, String claim) {
        Base64.Encoder encoder = Base64.getUrlEncoder().withoutPadding();
        byte[] random = new byte[24];
        if (known == null) RANDOM.nextBytes(random);
        String secret = known == null ? encoder.encodeToString(random) : known;
        String cookie = known != null ? null : cookie("waitroom-browser", secret, 604_800);
        try {
            byte[] text = ("waitroom browser " + secret).getBytes(StandardCharsets.UTF_8);
            String url = page + "&browser=" + encoder.encodeToString(MessageDigest.getInstance("SHA-256").digest(text));
            return claim == null ? redirect(url, cookie) : handOver(url.replaceFirst("\\?", "/claim?"), claim, cookie);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** Sends the claim in the body of a form, never in an address; the waiting page learns our origin and no more. */
    private static Answer handOver(String action, String claim, String cookie) {
        byte[] random = new byte[16];
        RANDOM.nextBytes(random);
        String nonce = Base64.getUrlEncoder().withoutPadding().encodeToString(random);
        URI target = URI.create(action);
        Map<String, String> headers = new HashMap<>(Map.of(
            "Content-Type", "text/html; charset=utf-8", "Cache-Control", "no-store", "Referrer-Policy", "strict-origin",
            "X-Content-Type-Options", "nosniff", "Content-Security-Policy", "default-src 'none'; script-src 'nonce-" + nonce
                + "'; form-action " + target.getScheme() + "://" + target.getRawAuthority() + "; base-uri 'none'; frame-ancestors 'none'"));
        if (cookie != null) headers.put("Set-Cookie", cookie);
        String page = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"robots\" content=\"noindex\">"
            + "<title>One moment, please</title><h1>One moment, please</h1><form method=\"post\" action=\"" + action.replace("&", "&amp;")
            + "\"><input type=\"hidden\" name=\"claim\" value=\"" + claim + "\"><button>Go to the waiting room</button></form>"
            + "<script nonce=\"" + nonce + "\">document.forms[0].submit()</script>";
        return new Answer(200, headers, page);
    }

    private String cookie(String name, String value, long seconds) {
        boolean secure = site.startsWith("https:");
        return (secure ? "__Host-" : "") + name + "=" + value + "; Path=/; HttpOnly; SameSite=Lax; Max-Age=" + seconds
            + (secure ? "; Secure" : "");
    }

    private String passCookie(WaitroomSessions.Pass pass) {
        long left = Math.max(1, pass.expires() - System.currentTimeMillis() / 1000);
        return cookie("waitroom-pass-" + pass.room(), pass.text(), left);
    }

    /** A one-time code, from the waiting page on another host, becomes a cookie and leaves the address. */
    private Answer redeemed(String clean, String code, String secret) {
        if (secret == null) return redirect(clean, null); // a code that this browser never asked for
        try {
            HttpRequest request = HttpRequest.newBuilder(url.resolve("v1/redeem")).timeout(Keys.DEADLINE.multipliedBy(4))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString("{\"code\":\"" + code + "\",\"browser\":\"" + secret + "\"}")).build();
            HttpResponse<byte[]> answer = keys.client.send(request, HttpResponse.BodyHandlers.ofByteArray());
            if (answer.statusCode() != 200) return redirect(clean, null);
            Map<String, Object> found = Json.object(answer.body());
            String room = String.valueOf(found.get("room"));
            WaitroomSessions.Pass good = sessions.read(room, String.valueOf(found.get("pass")));
            return redirect(clean, good == null ? null : passCookie(good));
        } catch (IOException | IllegalArgumentException failed) {
            return redirect(clean, null); // used, too old, or away: that address leads to the waiting page
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            return redirect(clean, null);
        }
    }

    private static Answer redirect(String location, String cookie) {
        Map<String, String> headers = new HashMap<>(Map.of("Location", location, "Cache-Control", "no-store"));
        if (cookie != null) headers.put("Set-Cookie", cookie);
        return new Answer(303, headers, "");
    }

    private static Answer problem(int status, String code, String detail, String more) {
        String title = switch (status) {
            case 429 -> "Please wait";
            case 503 -> "Not available for a moment";
            default -> "The request cannot be read";
        };
        Map<String, String> headers =
            new HashMap<>(Map.of("Content-Type", "application/problem+json", "Cache-Control", "no-store"));
        if (status != 400) headers.put("Retry-After", "5");
        return new Answer(status, headers, "{\"type\":\"about:blank\",\"title\":\"" + title + "\",\"status\":" + status
            + ",\"detail\":\"" + detail + "\",\"code\":\"" + code + "\"" + more + "}");
    }

    private static Answer away(Facts facts) {
        if (facts.isProgram()) {
            return problem(503, "waitroom_away", "the waiting room cannot be reached; try again", "");
        }
        return new Answer(503,
            Map.of("Content-Type", "text/html; charset=utf-8", "Retry-After", "5", "Cache-Control", "no-store"),
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"5\">"
            + "<title>One moment, please</title><h1>One moment, please</h1>"
            + "<p>The waiting room cannot be reached. This page tries again by itself.</p>");
    }

    /** The public keys of Waitroom: kept while it is away, fetched again when old or when one is missing. */
    static final class Keys {
        private static final Duration DEADLINE = Duration.ofMillis(Long.getLong("waitroom.deadline_ms", 250));
        private static final long FRESH_MS = 3_000; // a removed key is refused after this
        private static final long PAUSE_MS = 200; // between two fetches: forgers name keys that do not exist
        private static final long REST_MS = 1_000; // after a fetch that failed
        private static final long AWAY_MS = 3_000; // after this time a late Waitroom counts as away
        private static final int FEWEST_FAILURES = 3;
        private static final BigInteger ORDER =
            new BigInteger("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551", 16);

        private final HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1).connectTimeout(DEADLINE).build();
        private final URI url;
        private volatile Map<String, PublicKey> known = Map.of();
        private volatile String issuer; // who issues passes: another deployment may have the same keys
        private volatile long fetchedAt = now() - 3_600_000;
        private volatile long triedAt = now() - 3_600_000;
        private volatile int failures; // written while holding the lock
        private volatile long silentSince;
        private volatile boolean away;

        Keys(URI url) {
            this.url = url;
        }

        /** Returns the key with a name, or null if Waitroom has none. */
        PublicKey of(String kid) {
            if (isOld() && failures > 0 && known.containsKey(kid)) {
                // While Waitroom is away, pass holders do not wait.
                if (now() - triedAt >= REST_MS) CompletableFuture.runAsync(() -> fetch(now()));
            } else if (isOld()) {
                fetch(now());
            }
            if (!known.containsKey(kid) && failures == 0) fetch(now());
            return known.get(kid);
        }

        /** Tells whether Waitroom is away. One late answer proves nothing: the network or we may be busy. */
        boolean away() {
            if (isOld()) fetch(now());
            return isOld() && away;
        }

        /** The same, without asking. */
        boolean knownAway() {
            return isOld() && away;
        }

        private boolean isOld() {
            return now() - fetchedAt > FRESH_MS;
        }

        /** Fetches the keys, unless another thread has started since {@code askedAt}, or it just failed. */
        private synchronized void fetch(long askedAt) {
            if (triedAt > askedAt || (failures > 0 && now() - triedAt < REST_MS)) return;
            try {
                Thread.sleep(Math.max(0, Math.min(PAUSE_MS, triedAt + PAUSE_MS - now())));
                triedAt = now();
                HttpRequest request = HttpRequest.newBuilder(url).timeout(DEADLINE).build();
                HttpResponse<byte[]> answer = client.send(request, HttpResponse.BodyHandlers.ofByteArray());
                if (answer.statusCode() == 502) throw new IOException("a proxy found nobody");
                if (answer.statusCode() != 200) throw new HttpTimeoutException("there, but " + answer.statusCode());
                Map<String, Object> document = Json.object(answer.body());
                issuer = document.get("issuer") instanceof String name ? name : null;
                known = read(document);
                fetchedAt = now();
                failures = 0;
                away = false;
            } catch (HttpTimeoutException late) {
                failed(true);
            } catch (IOException | IllegalArgumentException | GeneralSecurityException failed) {
                failed(false);
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        }

        private void failed(boolean onlyLate) {
            if (failures == 0) silentSince = triedAt;
            failures += 1;
            if (!onlyLate || (failures >= FEWEST_FAILURES && now() - silentSince >= AWAY_MS)) away = true;
        }

        static Map<String, PublicKey> read(Map<String, Object> set) throws GeneralSecurityException {
            AlgorithmParameters curve = AlgorithmParameters.getInstance("EC");
            curve.init(new ECGenParameterSpec("secp256r1"));
            ECParameterSpec p256 = curve.getParameterSpec(ECParameterSpec.class);
            Map<String, PublicKey> found = new HashMap<>();
            for (Object one : set.get("keys") instanceof List<?> list ? list : List.of()) {
                if (!(one instanceof Map<?, ?> key) || !ALGORITHM.equals(key.get("alg"))) continue;
                if (!"P-256".equals(key.get("crv"))) continue;
                ECPoint point = new ECPoint(number(key.get("x")), number(key.get("y")));
                PublicKey made = KeyFactory.getInstance("EC").generatePublic(new ECPublicKeySpec(point, p256));
                found.put(String.valueOf(key.get("kid")), made);
            }
            return Map.copyOf(found);
        }

        private static BigInteger number(Object text) {
            return new BigInteger(1, decoded(String.valueOf(text)));
        }

        /** JOSE concatenates r and s; Java calls that P1363. */
        static boolean signedBy(PublicKey key, byte[] signed, byte[] signature) throws GeneralSecurityException {
            if (signature.length != 64) return false;
            // Java 15 to 18 before April 2022 accepted zeros as a good signature (CVE-2022-21449).
            for (int half = 0; half < 64; half += 32) {
                BigInteger number = new BigInteger(1, Arrays.copyOfRange(signature, half, half + 32));
                if (number.signum() == 0 || number.compareTo(ORDER) >= 0) return false;
            }
            Signature check = Signature.getInstance("SHA256withECDSAinP1363Format");
            check.initVerify(key);
            check.update(signed);
            return check.verify(signature);
        }

        private static long now() {
            return System.nanoTime() / 1_000_000;
        }
    }

    /** Knows the accounts of a room, and signs claims: docs/gate-contract.md has the bytes. */
    static final class ClaimKey {
        private static final String PREFIX = "wrc_";
        private static final int LIFE_S = 45;
        private static final int BEGINNING = 5; // version and key id: a claim begins like its key
        private static final int SALT = 16;
        private static final int LONGEST_USER = 1_024;
        private final byte[] head;
        private final byte[] salt;
        private final byte[] key;

        ClaimKey(String text) {
            byte[] found = text.startsWith(PREFIX) ? decoded(text.substring(PREFIX.length())) : new byte[0];
            if (found.length != BEGINNING + SALT + 32 || found[0] != 1) {
                throw new IllegalArgumentException("not a claim key; make one with `waitroom claim-key ROOM`");
            }
            this.salt = Arrays.copyOfRange(found, BEGINNING, BEGINNING + SALT);
            this.key = Arrays.copyOfRange(found, BEGINNING + SALT, found.length);
            // Never the salt itself: with it, whoever reads a claim could try user ids.
            byte[] fingerprint = hmac(salt, "fingerprint".getBytes(StandardCharsets.US_ASCII));
            this.head = ByteBuffer.allocate(BEGINNING + SALT).put(found, 0, BEGINNING).put(fingerprint, 0, SALT).array();
        }

        /** Returns the account of a user of this site, which is the {@code sub} of their pass. */
        String account(String room, String user) {
            int length = user.codePointCount(0, user.length());
            if (length < 1 || length > LONGEST_USER) throw new IllegalArgumentException("a user's id has 1 to 1024 characters");
            byte[] named = ("account:" + room + "\0" + user).getBytes(StandardCharsets.UTF_8);
            return encoded(Arrays.copyOf(hmac(salt, named), 12));
        }

        String claim(String room, String account, long now) {
            byte[] nonce = new byte[8];
            RANDOM.nextBytes(nonce);
            return claim(room, account, now, nonce);
        }

        String claim(String room, String account, long now, byte[] nonce) {
            byte[] name = room.getBytes(StandardCharsets.US_ASCII);
            byte[] signed = ByteBuffer.allocate(head.length + 24 + name.length).put(head).putInt((int) (now + LIFE_S))
                .put(nonce).put(decoded(account)).put(name).array();
            byte[] mac = hmac(key, signed);
            return encoded(ByteBuffer.allocate(signed.length + 16).put(signed).put(mac, 0, 16).array());
        }

        private static byte[] hmac(byte[] key, byte[] data) {
            try {
                Mac mac = Mac.getInstance("HmacSHA256");
                mac.init(new SecretKeySpec(key, "HmacSHA256"));
                return mac.doFinal(data);
            } catch (GeneralSecurityException impossible) {
                throw new IllegalStateException(impossible);
            }
        }

        private static String encoded(byte[] data) {
            return Base64.getUrlEncoder().withoutPadding().encodeToString(data);
        }
    }

    /** Where people come back to: always this site, and nothing in path or query can write a header. */
    static final class Returns {
        private static final int LONGEST = 1_500;
        private static final String IN_PATH = "-._~/!$&'()*+,;=:@%";

        /** Returns an address without a host: one slash, the path, and the query without a code. */
        static String onSite(String path, String query) {
            List<String> rest = new ArrayList<>(List.of(query.split("&")));
            rest.removeIf(part -> part.isEmpty() || isCode(part));
            String text = "/" + quoted(path.replaceFirst("^[/\\\\]+", ""), IN_PATH);
            return rest.isEmpty() ? text : text + "?" + quoted(String.join("&", rest), IN_PATH + "?");
        }

        static String to(String site, String path, String query) {
            for (String text : List.of(site + onSite(path, query), site + onSite(path, ""))) {
                if (text.length() <= LONGEST) return text;
            }
            return site + "/";
        }

        static String page(String publicUrl, String room, String back) {
            return publicUrl + "/rooms/" + quoted(room, "-._~") + "?return=" + quoted(back, "-._~");
        }

        /** However it is spelled. */
        private static boolean isCode(String part) {
            String name = Paths.unescaped(part.split("=", 2)[0].replace('+', ' '));
            return name.strip().toLowerCase(Locale.ROOT).equals(CODE);
        }

        private static String quoted(String text, String safe) {
            StringBuilder made = new StringBuilder();
            for (byte one : text.getBytes(StandardCharsets.UTF_8)) {
                boolean plain = one > 0 && (Character.isLetterOrDigit(one) || one == '_' || safe.indexOf(one) >= 0);
                made.append(plain ? String.valueOf((char) one) : String.format("%%%02X", one));
            }
            return made.toString();
        }
    }

    /**
     * Servers differ in how they read {@code %2e%2e}, {@code //}, {@code ;x}, capitals and wide
     * letters. So a path is read in every way that any of them might, and is protected if one reading is.
     */
    static final class Paths {
        /** A protected or free part of the site: {@code room} is null if everybody may go. */
        record Place(String path, String room, List<String> parts) {}

        private static final int LONGEST = 8_192;
        private static final String LOST = "\ufffd";
        private static final Pattern WIDE = Pattern.compile("%[uU]([0-9a-fA-F]{4})");
        private static final Pattern BYTES = Pattern.compile("(?:%[0-9a-fA-F]{2})+");
        private static final Pattern UNSEEN = Pattern.compile("\\p{Cf}");
        // Nor can we judge a character that this Java does not know yet.
        private static final Pattern CONTROL = Pattern.compile("[\\p{Cc}\\p{Cs}\\p{Cn}]");

        private final List<Place> places = new ArrayList<>();

        Paths(Map<String, String> rules, List<String> bypasses) {
            rules.forEach((path, room) -> places.add(new Place(path, room, segments(folded(path)))));
            bypasses.forEach(path -> places.add(new Place(path, null, segments(folded(path)))));
            // If a rule and a bypass have the same path, the rule wins: protecting is the safer error.
            places.sort(Comparator.<Place>comparingInt(place -> -place.parts().size())
                .thenComparing(place -> place.parts().stream().filter("*"::equals).count())
                .thenComparing(place -> place.room() == null));
        }

        /** Returns the place of a path, or null if it is free. */
        Place of(String path) {
            Set<List<String>> ways = readings(path);
            List<String> exact = plain(path, ways);
            Place best = null;
            for (List<String> way : ways) {
                Place place = first(way, exact);
                if (place == null) continue;
                // A pass for one room must not open the other.
                if (best != null && !best.room().equals(place.room())) throw new IllegalArgumentException("two rooms");
                if (best == null || place.path().length() > best.path().length()) best = place;
            }
            return best;
        }

        private Place first(List<String> way, List<String> exact) {
            for (Place place : places) {
                if (!covers(place.parts(), way)) continue;
                if (place.room() != null) return place;
                // `/concert/HEALTH` may be a seat of that name: a bypass is for one spelling only.
                if (exact != null && covers(written(place.path()), exact)) return null;
            }
            return null;
        }

        private static boolean covers(List<String> wanted, List<String> parts) {
            if (wanted.size() > parts.size()) return false;
            for (int at = 0; at < wanted.size(); at++) {
                if (!wanted.get(at).equals("*") && !wanted.get(at).equals(parts.get(at))) return false;
            }
            return true;
        }

        private static Set<List<String>> readings(String path) {
            if (path.length() > LONGEST) throw new IllegalArgumentException("endless path");
            String text = folded(path);
            Set<List<String>> ways = new LinkedHashSet<>();
            for (String one : List.of(text, text.replace(LOST, ""))) {
                ways.add(segments(one));
                ways.add(resolved(segments(one)));
            }
            return ways;
        }

        /** Returns the segments of a path with only one reading, spelled plainly; else null. */
        private static List<String> plain(String path, Set<List<String>> ways) {
            String text = "/" + String.join("/", ways.iterator().next());
            String given = caseless(path);
            return ways.size() == 1 && (given.equals(text) || given.equals(text + "/")) ? written(path) : null;
        }

        private static List<String> written(String path) {
            return Arrays.stream(path.split("/")).filter(part -> !part.isEmpty()).toList();
        }

        private static String caseless(String text) {
            return text.toLowerCase(Locale.ROOT).replace("\u00df", "ss").replace('\u03c2', '\u03c3');
        }

        /** Returns a path without any layer of encoding, case and look-alike spelling. */
        static String folded(String path) {
            for (int layer = 0; layer < 6; layer++) {
                String wide = WIDE.matcher(path).replaceAll(found ->
                    Matcher.quoteReplacement(String.valueOf((char) Integer.parseInt(found.group(1), 16))));
                String text = caseless(Normalizer.normalize(unescaped(wide), Normalizer.Form.NFKC));
                text = UNSEEN.matcher(text).replaceAll("");
                if (CONTROL.matcher(text).find()) break;
                if (text.equals(path)) return text;
                path = text;
            }
            throw new IllegalArgumentException("unreadable path");
        }

        static String unescaped(String text) {
            return BYTES.matcher(text).replaceAll(found -> Matcher.quoteReplacement(unquoted(found.group())));
        }

        private static String unquoted(String escapes) {
            byte[] bytes = new byte[escapes.length() / 3];
            for (int at = 0; at < bytes.length; at++) {
                bytes[at] = (byte) Integer.parseInt(escapes.substring(3 * at + 1, 3 * at + 3), 16);
            }
            return new String(bytes, StandardCharsets.UTF_8);
        }

        static List<String> segments(String text) {
            List<String> found = new ArrayList<>();
            for (String part : text.split("[/\\\\]+")) {
                String bare = part.split("[;?#]", 2)[0].strip();
                if (!bare.equals("..")) bare = bare.replaceFirst("[. ]+$", "");
                if (!bare.isEmpty()) found.add(bare);
            }
            return found;
        }

        static List<String> resolved(List<String> parts) {
            List<String> found = new ArrayList<>();
            for (String part : parts) {
                if (!part.equals("..")) found.add(part);
                else if (!found.isEmpty()) found.remove(found.size() - 1);
            }
            return found;
        }
    }

    /** As much of JSON as keys and passes need; whole numbers are Long, other numbers are refused. */
    static final class Json {
        private static final int DEEPEST = 8;
        private final String text;
        private int at;

        private Json(String text) {
            this.text = text;
        }

        @SuppressWarnings("unchecked")
        static Map<String, Object> object(byte[] data) {
            Json json = new Json(new String(data, StandardCharsets.UTF_8));
            Object found = json.value(0);
            if (!(found instanceof Map) || json.peek() != 0) throw json.wrong();
            return (Map<String, Object>) found;
        }

        private Object value(int depth) {
            if (depth > DEEPEST) throw wrong();
            switch (peek()) {
                case '{': return members(depth);
                case '[': return items(depth);
                case '"': return string();
                default: return literal();
            }
        }

        private Map<String, Object> members(int depth) {
            Map<String, Object> found = new HashMap<>();
            at++;
            if (take('}')) return found;
            do {
                if (peek() != '"') throw wrong();
                String name = string();
                if (!take(':') || found.put(name, value(depth + 1)) != null) throw wrong();
            } while (take(','));
            if (!take('}')) throw wrong();
            return found;
        }

        private List<Object> items(int depth) {
            List<Object> found = new ArrayList<>();
            at++;
            if (take(']')) return found;
            do found.add(value(depth + 1)); while (take(','));
            if (!take(']')) throw wrong();
            return found;
        }

        private String string() {
            StringBuilder found = new StringBuilder();
            for (at++; at < text.length() && text.charAt(at) != '"'; at++) {
                char one = text.charAt(at);
                if (one < ' ') throw wrong();
                found.append(one == '\\' ? escape() : one);
            }
            if (at++ >= text.length()) throw wrong();
            return found.toString();
        }

        private char escape() {
            if (++at >= text.length()) throw wrong();
            int known = "\"\\/bfnrt".indexOf(text.charAt(at));
            if (known >= 0) return "\"\\/\b\f\n\r\t".charAt(known);
            if (text.charAt(at) != 'u' || at + 4 >= text.length()) throw wrong();
            at += 4;
            return (char) Integer.parseInt(text.substring(at - 3, at + 1), 16);
        }

        private Object literal() {
            int began = at;
            while (at < text.length() && ",]} \t\r\n".indexOf(text.charAt(at)) < 0) at++;
            String word = text.substring(began, at);
            return switch (word) {
                case "true" -> true;
                case "false" -> false;
                case "null" -> ""; // no claim or key of ours is empty, and a map cannot tell null from missing
                default -> Long.valueOf(word); // a NumberFormatException is an IllegalArgumentException
            };
        }

        private boolean take(char wanted) {
            boolean found = peek() == wanted;
            if (found) at++;
            return found;
        }

        /** The next character that is not a blank; 0 at the end. */
        private char peek() {
            while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
            return at < text.length() ? text.charAt(at) : 0;
        }

        private IllegalArgumentException wrong() {
            return new IllegalArgumentException("not JSON at " + at);
        }
    }
}
