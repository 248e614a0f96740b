import java.io.IOException;
import java.math.BigInteger;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
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
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A gate for Java 17 with nothing but the JDK: who shows a good pass goes on, everybody else waits.
 *
 * <p>Passes are checked here, with the keys that Waitroom publishes: a request costs no call. It
 * knows no servlet API, so that one file fits every container; docs/howto-other-stacks.md has the
 * ten lines that make a servlet filter of it, and Site.java uses it with the JDK's own server.
 */
public final class WaitroomFilter {
    private static final String ALGORITHM = "ES256"; // Waitroom's default
    private static final String TYPE = "waitroom-pass+jwt";
    private static final int LEEWAY_S = 5;
    private static final int LONGEST_PASS = 2048;
    private static final String CODE = "waitroom_code";
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final Pattern SECRET = Pattern.compile("[A-Za-z0-9_-]{32}");
    private static final Pattern CODE_PART = Pattern.compile("(?:^|&)" + CODE + "=([A-Za-z0-9._~-]{16,256})(?=&|$)");

    /** What is known of a request; {@code rawPath} and {@code rawQuery} as they came, the query may be null. */
    public record Facts(String method, String rawPath, String rawQuery, Function<String, List<String>> headers) {
        private String header(String name) {
            List<String> found = headers.apply(name);
            return found == null || found.isEmpty() ? "" : String.join(", ", found);
        }

        private boolean isSafe() {
            return method.equals("GET") || method.equals("HEAD");
        }

        private boolean isProgram() {
            if (!header("X-Requested-With").isEmpty() || !header("Waitroom-Pass").isEmpty()) return true;
            String accept = header("Accept").toLowerCase(Locale.ROOT);
            return accept.contains("json") && !accept.contains("text/html");
        }
    }

    /** An answer in place of the site's. */
    public record Answer(int status, Map<String, String> headers, String body) {}

    private record Place(List<String> parts, String room) {}

    private final URI url;
    private final String publicUrl;
    private final String site;
    private final boolean open;
    private final List<Place> places;
    private final Keys keys;

    /**
     * @param url Waitroom, as this server reaches it
     * @param publicUrl Waitroom, as browsers reach it
     * @param site the origin of this site: people are sent back there, whatever Host says
     * @param rules path to room; the longest that fits counts
     * @param openWhenAway let newcomers in while Waitroom cannot be reached
     */
    public WaitroomFilter(String url, String publicUrl, String site, Map<String, String> rules, boolean openWhenAway) {
        this.url = URI.create(url + "/");
        this.publicUrl = publicUrl;
        this.site = site;
        this.open = openWhenAway;
        this.keys = new Keys(this.url.resolve(".well-known/jwks.json"));
        this.places = rules.entrySet().stream()
            .map(rule -> new Place(Paths.segments(Paths.folded(rule.getKey())), rule.getValue()))
            .sorted(Comparator.comparing(place -> -place.parts().size()))
            .toList();
    }

    /** Returns the answer for somebody who must wait, or null: go on. */
    public Answer decide(Facts facts) {
        String room;
        try {
            room = roomOf(facts.rawPath());
        } catch (IllegalArgumentException unreadable) {
            return problem(400, "unreadable_path", "the path can be read in more ways than one", "");
        }
        String query = facts.rawQuery() == null ? "" : facts.rawQuery();
        Matcher code = CODE_PART.matcher(query);
        if (room == null) return null;
        if (facts.isSafe() && code.find()) {
            String wish = code.group(1);
            return redeemed(facts.rawPath(), code.replaceAll(""), wish, secretOf(facts));
        }
        for (String text : shown(facts, room)) {
            if (verify(room, text) != null) return null;
        }
        if (keys.away()) return open ? null : away(facts);
        String back = facts.isSafe() ? address(facts.rawPath(), query) : site + "/";
        String page = publicUrl + "/rooms/" + room + "?return=" + URLEncoder.encode(back, StandardCharsets.UTF_8);
        if (!facts.isProgram()) return waitingPage(page, secretOf(facts));
        String join = publicUrl + "/v1/rooms/" + room + "/tickets";
        String more = ",\"room\":\"" + room + "\",\"join\":\"" + join + "\",\"url\":\"" + page + "\"";
        return problem(429, "waiting", "this needs a pass: join the room, then send it as Waitroom-Pass", more);
    }

    /** Returns the claims of a pass of this room, or null if it is none: signature, kind, issuer, room and end. */
    public Map<String, Object> verify(String room, String text) {
        try {
            String[] parts = text.split("\\.", -1);
            if (text.length() > LONGEST_PASS || parts.length != 3) return null;
            Map<String, Object> head = Json.object(decoded(parts[0]));
            // The key fixes the algorithm; what a pass says of its own is only compared.
            if (!ALGORITHM.equals(head.get("alg")) || !TYPE.equals(head.get("typ")) || head.size() != 3) return null;
            PublicKey key = head.get("kid") instanceof String kid ? keys.of(kid) : null;
            byte[] signed = (parts[0] + "." + parts[1]).getBytes(StandardCharsets.US_ASCII);
            if (key == null || !Keys.signedBy(key, signed, decoded(parts[2]))) return null;
            Map<String, Object> claims = Json.object(decoded(parts[1]));
            long now = System.currentTimeMillis() / 1000;
            boolean good = room.equals(claims.get("aud"))
                && (keys.issuer == null || keys.issuer.equals(claims.get("iss")))
                && claims.get("sub") instanceof String && claims.get("jti") instanceof String
                && claims.get("exp") instanceof Long exp && now < exp + LEEWAY_S
                && claims.get("iat") instanceof Long iat && iat <= now + LEEWAY_S;
            return good ? claims : null;
        } catch (IllegalArgumentException | GeneralSecurityException wrong) {
            return null;
        }
    }

    /** A last character has bits to spare, which would spell one pass in several ways. */
    private static byte[] decoded(String part) {
        byte[] found = Base64.getUrlDecoder().decode(part);
        if (!Base64.getUrlEncoder().withoutPadding().encodeToString(found).equals(part)) {
            throw new IllegalArgumentException("not spelled as a pass is");
        }
        return found;
    }

    /** The texts that may be passes, at most four: another page may have planted a cookie. */
    private static List<String> shown(Facts facts, String room) {
        List<String> found = new ArrayList<>();
        List<String> lines = facts.headers().apply("Cookie");
        for (String part : String.join(";", lines == null ? List.of() : lines).split(";")) {
            String[] pair = part.strip().split("=", 2);
            if (pair.length != 2 || found.size() >= 3) continue;
            if (pair[0].equals("__Host-waitroom-pass-" + room)) found.add(0, pair[1]);
            if (pair[0].equals("waitroom-pass-" + room)) found.add(pair[1]); // plain http
        }
        String header = facts.header("Waitroom-Pass");
        if (!header.isEmpty()) found.add(header);
        return found;
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

    /** Sends a browser to the waiting page, with the hash of its secret. */
    private Answer waitingPage(String page, String known) {
        Base64.Encoder encoder = Base64.getUrlEncoder().withoutPadding();
        byte[] random = new byte[24];
        if (known == null) RANDOM.nextBytes(random);
        String secret = known == null ? encoder.encodeToString(random) : known;
        String cookie = known != null ? null : cookie("waitroom-browser", secret, 604_800);
        try {
            byte[] text = ("waitroom browser " + secret).getBytes(StandardCharsets.UTF_8);
            return redirect(page + "&browser=" + encoder.encodeToString(MessageDigest.getInstance("SHA-256").digest(text)), cookie);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private String cookie(String name, String value, long seconds) {
        boolean secure = site.startsWith("https:");
        return (secure ? "__Host-" : "") + name + "=" + value + "; Path=/; HttpOnly; SameSite=Lax; Max-Age=" + seconds
            + (secure ? "; Secure" : "");
    }

    /** A one-time code, from the waiting page on another host, becomes a cookie and leaves the address. */
    private Answer redeemed(String path, String query, String code, String secret) {
        String clean = address(path, query.startsWith("&") ? query.substring(1) : query);
        if (secret == null) return redirect(clean, null); // a code that this browser never asked for
        try {
            HttpRequest request = HttpRequest.newBuilder(url.resolve("v1/redeem")).timeout(Duration.ofSeconds(1))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString("{\"code\":\"" + code + "\",\"browser\":\"" + secret + "\"}")).build();
            HttpResponse<byte[]> answer = keys.client.send(request, HttpResponse.BodyHandlers.ofByteArray());
            if (answer.statusCode() != 200) return redirect(clean, null);
            Map<String, Object> found = Json.object(answer.body());
            String room = String.valueOf(found.get("room"));
            String pass = String.valueOf(found.get("pass"));
            Map<String, Object> claims = verify(room, pass);
            if (claims == null) return redirect(clean, null);
            long left = Math.max(1, (Long) claims.get("exp") - System.currentTimeMillis() / 1000);
            return redirect(clean, cookie("waitroom-pass-" + room, pass, left));
        } catch (IOException | IllegalArgumentException failed) {
            return redirect(clean, null); // used, too old, or away: that address leads to the waiting page
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            return redirect(clean, null);
        }
    }

    /** An address on this site: the host is ours, and nothing in path or query can write a header. */
    private String address(String path, String query) {
        String text = site + "/" + path.replaceFirst("^[/\\\\]+", "") + (query.isEmpty() ? "" : "?" + query);
        return text.replaceAll("[^\\x21-\\x7e]|[\"<>\\\\^`{|}]", "");
    }

    private String roomOf(String path) {
        List<String> parts = Paths.segments(Paths.folded(path));
        Set<String> rooms = new LinkedHashSet<>();
        for (List<String> reading : List.of(parts, Paths.resolved(parts))) {
            places.stream()
                .filter(one -> one.parts().size() <= reading.size()
                    && one.parts().equals(reading.subList(0, one.parts().size())))
                .findFirst().ifPresent(one -> rooms.add(one.room()));
        }
        // A pass for the one room must not open the other.
        if (rooms.size() > 1) throw new IllegalArgumentException("two rooms");
        return rooms.isEmpty() ? null : rooms.iterator().next();
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
    private static final class Keys {
        private static final Duration DEADLINE = Duration.ofMillis(Long.getLong("waitroom.deadline_ms", 250));
        private static final long FRESH_MS = 3_000; // a key that was taken away is refused after this
        private static final long PAUSE_MS = 200; // between two fetches: forgers name keys that nobody has
        private static final long REST_MS = 1_000; // after a fetch that failed
        private static final long AWAY_MS = 3_000; // a Waitroom that is only late is away after so long
        private static final int FEWEST_FAILURES = 3;
        private static final BigInteger ORDER =
            new BigInteger("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551", 16);

        private final HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1).connectTimeout(DEADLINE).build();
        private final URI url;
        private volatile Map<String, PublicKey> known = Map.of();
        private volatile String issuer; // who lets in: another deployment may have the same keys
        private volatile long fetchedAt = now() - 3_600_000;
        private volatile long triedAt = now() - 3_600_000;
        private volatile int failures; // written by who holds the lock
        private volatile long silentSince;
        private volatile boolean away;

        Keys(URI url) {
            this.url = url;
        }

        /** Returns the key of a name, or null if Waitroom has none such. */
        PublicKey of(String kid) {
            if (isOld() && failures > 0 && known.containsKey(kid)) {
                // While Waitroom is away, who has a pass waits for nothing.
                if (now() - triedAt >= REST_MS) CompletableFuture.runAsync(() -> fetch(now()));
            } else if (isOld()) {
                fetch(now());
            }
            if (!known.containsKey(kid) && failures == 0) fetch(now());
            return known.get(kid);
        }

        /** Tells whether nobody is there. One late answer says nothing: the network or we may be busy. */
        boolean away() {
            if (isOld()) fetch(now());
            return isOld() && away;
        }

        private boolean isOld() {
            return now() - fetchedAt > FRESH_MS;
        }

        /** Fetches the keys, unless somebody has begun to since {@code askedAt}, or it failed just now. */
        private synchronized void fetch(long askedAt) {
            if (triedAt > askedAt || (failures > 0 && now() - triedAt < REST_MS)) return;
            try {
                Thread.sleep(Math.max(0, Math.min(PAUSE_MS, triedAt + PAUSE_MS - now())));
                triedAt = now();
                HttpRequest request = HttpRequest.newBuilder(url).timeout(DEADLINE).build();
                HttpResponse<byte[]> answer = client.send(request, HttpResponse.BodyHandlers.ofByteArray());
                if (answer.statusCode() != 200) throw new IOException("keys: " + answer.statusCode());
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

        private static Map<String, PublicKey> read(Map<String, Object> set) throws GeneralSecurityException {
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

        /** JOSE writes r and s side by side; Java calls that P1363. */
        static boolean signedBy(PublicKey key, byte[] signed, byte[] signature) throws GeneralSecurityException {
            if (signature.length != 64) return false;
            // Java 15 to 18 before April 2022 took zeros for a good signature (CVE-2022-21449).
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

    /**
     * Servers differ in how they read {@code %2e%2e}, {@code //}, {@code ;x}, capitals and wide
     * letters. So a path is read in every way that any of them might, and is protected if one is.
     */
    private static final class Paths {
        private static final Pattern WIDE = Pattern.compile("%[uU]([0-9a-fA-F]{4})");
        private static final Pattern BYTES = Pattern.compile("(?:%[0-9a-fA-F]{2})+");
        private static final Pattern UNSEEN = Pattern.compile("[\\p{Cf}\ufffd]");
        // Nor can we tell what a character is that this Java does not know yet.
        private static final Pattern CONTROL = Pattern.compile("[\\p{Cc}\\p{Cs}\\p{Cn}]");

        /** Returns a path with every layer of encoding, case and look-alike spelling taken off. */
        static String folded(String path) {
            for (int layer = 0; layer < 6; layer++) {
                String wide = WIDE.matcher(path).replaceAll(found ->
                    Matcher.quoteReplacement(String.valueOf((char) Integer.parseInt(found.group(1), 16))));
                String plain = BYTES.matcher(wide).replaceAll(found ->
                    Matcher.quoteReplacement(unquoted(found.group())));
                String text = Normalizer.normalize(plain, Normalizer.Form.NFKC).toLowerCase(Locale.ROOT);
                text = UNSEEN.matcher(text).replaceAll("");
                if (CONTROL.matcher(text).find()) break;
                if (text.equals(path)) return text;
                path = text;
            }
            throw new IllegalArgumentException("unreadable path");
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
    private static final class Json {
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
                case "null" -> ""; // no claim or key of ours is empty, and a map tells null from nothing badly
                default -> Long.valueOf(word); // a NumberFormatException is an IllegalArgumentException
            };
        }

        private boolean take(char wanted) {
            boolean found = peek() == wanted;
            if (found) at++;
            return found;
        }

        /** The next character that is no blank; 0 at the end. */
        private char peek() {
            while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
            return at < text.length() ? text.charAt(at) : 0;
        }

        private IllegalArgumentException wrong() {
            return new IllegalArgumentException("not JSON at " + at);
        }
    }
}
