import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;

/**
 * The sessions that a gate has seen: it checks, renews, finishes and announces them.
 *
 * <p>Only a strict gate's check makes a request wait; everything else runs beside it. One lock guards all that is
 * remembered, and is never held during a call.
 */
final class WaitroomSessions {
    private static final long CHECKED_MS = 1_000; // how long a strict gate trusts a reply
    private static final long TIDY_MS = 1_000;
    private static final long WATCH_MS = 5_000; // how often a gate checks whether a room has lost its state
    private static final long RETRY_MS = 5_000; // after a renewal that got no answer
    private static final int MOST = 20_000;
    private static final int MOST_AT_ONCE = 50; // passes in one announcement
    // Not by our reader of JSON: what else a room tells may be numbers that no pass has.
    private static final Pattern HOLDING = Pattern.compile("\"holding\"\\s*:\\s*true");

    private record Check(long until, CompletableFuture<Boolean> good) {}

    /** {@code fresh} replaces the pass; null if there is none, or none yet. */
    private record Renewal(long again, WaitroomPass fresh) {}

    private final WaitroomRemote remote;
    private final List<String> rooms;
    private final BooleanSupplier away;
    private final BiFunction<String, String, WaitroomPass> verify;
    private final Map<String, WaitroomPass> seen = new LinkedHashMap<>();
    private final Map<String, Boolean> ended = new LinkedHashMap<>();
    private final Map<String, Boolean> refused = new LinkedHashMap<>();
    private final Map<String, Check> checks = new LinkedHashMap<>();
    private final Map<String, Renewal> renewals = new LinkedHashMap<>();
    private final Map<String, WaitroomPass> owed = new LinkedHashMap<>(); // ends that Waitroom does not know of yet
    private long tidyAt = now();
    private long watchAt = now();

    WaitroomSessions(WaitroomRemote remote, List<String> rooms, BooleanSupplier away, BiFunction<String, String, WaitroomPass> verify) {
        this.remote = remote;
        this.rooms = rooms;
        this.away = away;
        this.verify = verify;
    }

    /** Returns the pass in a text, if it is valid for a room now and was not finished here. */
    WaitroomPass read(String room, String text) {
        WaitroomPass pass = verify.apply(room, text);
        if (pass == null) return null;
        synchronized (this) {
            if (ended.containsKey(pass.key())) return null;
            put(seen, text, pass);
        }
        return pass;
    }

    /** Asks whether a session is still valid. Without an answer the last refusal stands; without one, signature and end decide. */
    boolean goesOn(WaitroomPass pass) {
        Check check;
        boolean mine;
        synchronized (this) {
            check = checks.get(pass.text());
            mine = check == null || now() >= check.until();
            if (mine) {
                check = new Check(now() + CHECKED_MS, new CompletableFuture<>());
                put(checks, pass.text(), check);
            }
        }
        if (mine) {
            CompletableFuture<Boolean> good = check.good();
            asked(pass).thenAccept(reply -> good.complete(judged(pass, reply)));
        }
        return check.good().join(); // every call has a deadline
    }

    private CompletableFuture<WaitroomRemote.Reply> asked(WaitroomPass pass) {
        if (away.getAsBoolean()) return CompletableFuture.completedFuture(WaitroomRemote.Reply.NONE);
        return remote.ask("GET", "v1/check?room=" + pass.room(), pass.text(), null, 1);
    }

    private synchronized boolean judged(WaitroomPass pass, WaitroomRemote.Reply reply) {
        if (reply.isVerdict() && reply.status() == 204) refused.remove(pass.key());
        else if (reply.isVerdict()) put(refused, pass.key(), true);
        return !refused.containsKey(pass.key());
    }

    /** Starts to renew a session, unless that was just tried. */
    void renew(WaitroomPass pass) {
        synchronized (this) {
            Renewal known = renewals.get(pass.text());
            if (known != null && now() < known.again()) return;
            put(renewals, pass.text(), new Renewal(now() + RETRY_MS, null));
        }
        // Beside the client's own threads: reading the new pass may fetch its key.
        remote.ask("POST", "v1/passes/renew", pass.text(), null, 4).thenAcceptAsync(reply -> {
            if (!reply.isVerdict()) return;
            Renewal answered = new Renewal(Long.MAX_VALUE, freshIn(reply, pass));
            synchronized (this) {
                put(renewals, pass.text(), answered);
            }
        });
    }

    private WaitroomPass freshIn(WaitroomRemote.Reply reply, WaitroomPass old) {
        try {
            Object text = reply.status() == 200 ? WaitroomJson.object(reply.body()).get("pass") : null;
            if (!(text instanceof String given) || given.equals(old.text())) return null;
            WaitroomPass fresh = read(old.room(), given);
            return fresh != null && fresh.session().equals(old.session()) ? fresh : null;
        } catch (IllegalArgumentException notJson) {
            return null;
        }
    }

    /** Returns the pass that replaces this one, or null. */
    synchronized WaitroomPass renewed(WaitroomPass pass) {
        Renewal known = renewals.get(pass.text());
        return known == null ? null : known.fresh();
    }

    /** Ends a session: here at once, at Waitroom as soon as it learns of it. */
    void finish(WaitroomPass pass) {
        synchronized (this) {
            put(ended, pass.key(), true);
            put(owed, pass.text(), pass);
        }
        tellFinished(pass);
    }

    private void tellFinished(WaitroomPass pass) {
        remote.ask("POST", "v1/passes/finish", pass.text(), null, 4).thenAccept(reply -> {
            if (!reply.isVerdict()) return;
            synchronized (this) {
                owed.remove(pass.text());
            }
        });
    }

    /** Does what is due, about once a second while requests come; nobody waits for it. */
    void tidy() {
        List<WaitroomPass> unsent;
        boolean watches;
        synchronized (this) {
            long now = now();
            if (now < tidyAt) return;
            tidyAt = now + TIDY_MS;
            if (away.getAsBoolean()) return;
            unsent = owed.values().stream().limit(MOST_AT_ONCE).toList();
            watches = !seen.isEmpty() && now >= watchAt;
            if (watches) watchAt = now + WATCH_MS;
        }
        unsent.forEach(this::tellFinished);
        if (watches) rooms.forEach(this::watch);
    }

    /** Tells a Waitroom that lost its state which sessions are still valid, so that no place is given twice. */
    private void watch(String room) {
        remote.ask("GET", "v1/rooms/" + room, null, null, 4).thenAccept(reply -> {
            boolean holds = HOLDING.matcher(new String(reply.body(), StandardCharsets.UTF_8)).find();
            if (reply.status() == 200 && holds) announce(live(room));
        });
    }

    private void announce(List<String> texts) {
        if (texts.isEmpty()) return;
        int size = Math.min(MOST_AT_ONCE, texts.size());
        String body = "{\"passes\":[\"" + String.join("\",\"", texts.subList(0, size)) + "\"]}";
        remote.ask("POST", "v1/passes/announce", null, body, 20).thenAccept(reply -> {
            // If it fails, the next check tries again in some seconds.
            if (reply.isVerdict()) announce(texts.subList(size, texts.size()));
        });
    }

    /** Returns the newest pass of each session of a room. */
    private synchronized List<String> live(String room) {
        long now = System.currentTimeMillis() / 1000;
        Map<String, WaitroomPass> newest = new HashMap<>();
        for (WaitroomPass pass : seen.values()) {
            boolean counts = pass.room().equals(room) && pass.hasSession() && pass.expires() > now && !ended.containsKey(pass.key());
            if (counts) newest.merge(pass.session(), pass, (old, other) -> old.expires() < other.expires() ? other : old);
        }
        return newest.values().stream().map(WaitroomPass::text).toList();
    }

    /** Remembers an entry; the older half is dropped if there are too many. */
    private static <V> void put(Map<String, V> known, String key, V value) {
        if (known.size() >= MOST && !known.containsKey(key)) {
            Iterator<String> oldest = known.keySet().iterator();
            for (int dropped = 0; dropped < MOST / 2; dropped++) {
                oldest.next();
                oldest.remove();
            }
        }
        known.put(key, value);
    }

    private static long now() {
        return System.nanoTime() / 1_000_000;
    }
}
