import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/**
 * A gate for Java 17 that needs only the JDK: anybody with a good pass goes on, everybody else waits.
 *
 * <p>Passes are checked here, with the keys that Waitroom publishes: a request needs no call. It
 * knows no servlet API, so that it fits every container: copy all files of this folder whose names
 * begin with Waitroom. docs/howto-other-stacks.md has the lines that turn it into a servlet filter, and
 * Site.java uses it with the JDK's own server.
 */
public final class WaitroomFilter {
    /**
     * The facts of a request; {@code rawPath} and {@code rawQuery} as received, the query may be null.
     * {@code user} is the id of who has signed in at the site, null for nobody.
     */
    public record Facts(String method, String rawPath, String rawQuery, Function<String, List<String>> headers, String user) {
        public Facts(String method, String rawPath, String rawQuery, Function<String, List<String>> headers) {
            this(method, rawPath, rawQuery, headers, null);
        }

        String header(String name) {
            List<String> found = headers.apply(name);
            return found == null || found.isEmpty() ? "" : String.join(", ", found);
        }

        boolean isSafe() {
            return method.equals("GET") || method.equals("HEAD");
        }

        /** A browser sends no cookie with a preflight. */
        boolean isPreflight() {
            return method.equals("OPTIONS") && !header("Origin").isEmpty() && !header("Access-Control-Request-Method").isEmpty();
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

    /** A request: its answer, or what goes with the site's. */
    public final class Visit {
        private final Answer answer;
        private final WaitroomPass pass;
        private final boolean ends;
        private boolean done;

        private Visit(Answer answer, WaitroomPass pass, boolean ends) {
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
            if (done) return cookies.none(pass.room());
            WaitroomPass fresh = sessions.renewed(pass);
            return fresh == null ? List.of() : List.of(cookies.pass(fresh));
        }
    }

    final WaitroomPlan plan;
    private final String publicUrl;
    private final String site;
    private final boolean open;
    private final WaitroomRemote remote;
    private final WaitroomKeys keys;
    private final WaitroomSessions sessions;
    private final WaitroomCookies cookies;
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
        this.plan = new WaitroomPlan(publicUrl, site, rules, bypassPaths);
        this.publicUrl = publicUrl;
        this.site = site;
        this.open = openWhenAway;
        this.remote = new WaitroomRemote(url);
        this.keys = new WaitroomKeys(remote);
        this.cookies = new WaitroomCookies(site);
        this.sessions = new WaitroomSessions(remote, plan.rooms(), keys::knownAway, (room, text) ->
            WaitroomPass.verified(keys::of, keys::issuer, room, text, System.currentTimeMillis() / 1000));
    }

    /** Paths whose answer ends the session: {@code "POST /order"} or {@code "/thanks"}. */
    public WaitroomFilter withFinish(List<String> texts) {
        plan.finishAt(texts);
        return this;
    }

    /** Ask Waitroom whether a session is still valid, once a second per pass. */
    public WaitroomFilter withStrict() {
        strict = true;
        return this;
    }

    /** Do not extend the sessions of active visitors. */
    public WaitroomFilter withoutRenewal() {
        plan.renewNothing();
        return this;
    }

    /** One account, one place: the claim key of each room, as {@code waitroom claim-key} prints it; then give Facts a user. */
    public WaitroomFilter withClaimKeys(Map<String, String> keysByRoom) {
        plan.claimWith(keysByRoom);
        return this;
    }

    /** Returns the visit of a request: with the answer for somebody who must wait, else without one. */
    public Visit visit(Facts facts) {
        long now = System.currentTimeMillis() / 1000;
        WaitroomPlan.Decision decision = plan.judge(facts, sessions::read, now);
        sessions.tidy();
        boolean refused = strict && decision.pass() != null && !sessions.goesOn(decision.pass());
        if (refused) decision = plan.judge(facts, (room, text) -> null, now);
        if (decision.renew()) sessions.renew(decision.pass());
        Answer answer = switch (decision.what()) {
            case "refuse" -> WaitroomAnswers.problem(400, "unreadable_path", "the path can be read in more ways than one", "");
            case "redeem" -> redeemed(site + decision.url(), decision.code(), cookies.secretOf(facts));
            case "wait" -> waiting(facts, decision, now, open && !refused);
            default -> null;
        };
        return new Visit(answer, decision.pass(), decision.finish());
    }

    /** Returns the answer for somebody without a pass; null lets them in while Waitroom is away. */
    private Answer waiting(Facts facts, WaitroomPlan.Decision decision, long now, boolean letsIn) {
        if (keys.away()) return letsIn ? null : WaitroomAnswers.away(facts.isProgram());
        String claim = plan.claim(decision, now);
        if (!facts.isProgram()) return WaitroomAnswers.waitingPage(decision.url(), cookies.secretOf(facts), claim, cookies);
        String join = publicUrl + "/v1/rooms/" + decision.room() + "/tickets";
        String more = ",\"room\":\"" + decision.room() + "\",\"join\":\"" + join + "\",\"url\":\"" + decision.url() + "\"";
        if (claim != null) more += ",\"claim\":\"" + claim + "\""; // for the body of the join
        return WaitroomAnswers.problem(429, "waiting", "this needs a pass: join the room, then send it as Waitroom-Pass", more);
    }

    /** A one-time code, from the waiting page on another host, becomes a cookie and leaves the address. */
    private Answer redeemed(String clean, String code, String secret) {
        if (secret == null) return WaitroomAnswers.redirect(clean, null); // a code that this browser never asked for
        try {
            String body = "{\"code\":\"" + code + "\",\"browser\":\"" + secret + "\"}";
            WaitroomRemote.Reply reply = remote.post("v1/redeem", body, 4);
            if (reply.status() != 200) return WaitroomAnswers.redirect(clean, null);
            Map<String, Object> found = WaitroomJson.object(reply.body());
            String room = String.valueOf(found.get("room"));
            WaitroomPass good = sessions.read(room, String.valueOf(found.get("pass")));
            return WaitroomAnswers.redirect(clean, good == null ? null : cookies.pass(good));
        } catch (IOException | IllegalArgumentException failed) {
            return WaitroomAnswers.redirect(clean, null); // used, too old, or away: that address leads to the waiting page
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            return WaitroomAnswers.redirect(clean, null);
        }
    }
}
