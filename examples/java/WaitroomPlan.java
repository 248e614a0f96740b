import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.regex.Pattern;

/** What a gate was told, and what happens to a request: pass on, wait, redeem or refuse. It makes no calls; the filter does. */
final class WaitroomPlan {
    private static final Pattern ROOM = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}");

    /** What to do with a request: "free", "pass", "wait" at a url, "redeem" a code and go to a url, or "refuse". */
    record Decision(String what, String room, String url, String code, String account, WaitroomPass pass, boolean renew, boolean finish) {
        Decision(String what, String room, String url, String code, String account) {
            this(what, room, url, code, account, null, false, false);
        }
    }

    /** A path whose answer ends the session; {@code method} is null for any. */
    private record End(String method, WaitroomPaths paths) {
        static End of(String text) {
            String[] words = text.strip().split(" +", 2);
            String path = words[words.length - 1];
            return new End(words.length == 1 ? null : words[0].toUpperCase(Locale.ROOT), new WaitroomPaths(Map.of(path, "end"), List.of()));
        }

        boolean covers(WaitroomFilter.Facts facts) {
            return (method == null || method.equals(facts.method())) && paths.of(facts.rawPath()) != null;
        }
    }

    private final String publicUrl;
    private final String site;
    private final WaitroomPaths paths;
    private final List<String> rooms;
    private final Map<String, WaitroomClaimKey> claimKeys = new HashMap<>();
    private List<End> ends = List.of();
    private boolean renews = true;

    WaitroomPlan(String publicUrl, String site, Map<String, String> rules, List<String> bypassPaths) {
        for (String room : rules.values()) {
            if (!ROOM.matcher(room).matches()) throw new IllegalArgumentException("not the name of a room: " + room);
        }
        this.publicUrl = publicUrl;
        this.site = site;
        this.paths = new WaitroomPaths(rules, bypassPaths);
        this.rooms = rules.values().stream().distinct().sorted().toList();
    }

    void finishAt(List<String> texts) {
        ends = texts.stream().map(End::of).toList();
    }

    void renewNothing() {
        renews = false;
    }

    void claimWith(Map<String, String> keysByRoom) {
        keysByRoom.forEach((room, text) -> claimKeys.put(room, new WaitroomClaimKey(text)));
    }

    List<String> rooms() {
        return rooms;
    }

    /** Decides without asking anybody; {@code read} returns the pass of a room in a text, or null. */
    Decision judge(WaitroomFilter.Facts facts, BiFunction<String, String, WaitroomPass> read, long now) {
        WaitroomPaths.Place place;
        try {
            place = paths.of(facts.rawPath());
        } catch (IllegalArgumentException unreadable) {
            return new Decision("refuse", null, null, null, null);
        }
        boolean finish = ends.stream().anyMatch(end -> end.covers(facts));
        if (place == null && !finish) return new Decision("free", null, null, null, null);
        String query = facts.rawQuery() == null ? "" : facts.rawQuery();
        String code = place != null && facts.isSafe() ? WaitroomReturns.codeOf(query) : null;
        if (code != null) {
            return new Decision("redeem", null, WaitroomReturns.onSite(facts.rawPath(), query), code, null);
        }
        for (String room : place == null ? rooms : List.of(place.room())) {
            WaitroomPass pass = ownPass(facts, room, read);
            if (pass == null) continue;
            boolean late = renews && !finish && pass.hasSession() && pass.isLate(now);
            return new Decision("pass", room, null, null, null, pass, late, finish);
        }
        if (place == null || facts.isPreflight()) return new Decision("free", null, null, null, null);
        // A form cannot be sent again from the waiting page.
        String start = place.path().contains("*") ? "/" : place.path();
        String back = facts.isSafe() ? WaitroomReturns.to(site, facts.rawPath(), query) : WaitroomReturns.to(site, start, "");
        String page = WaitroomReturns.page(publicUrl, place.room(), back);
        return new Decision("wait", place.room(), page, null, accountOf(facts, place.room()));
    }

    /** Returns the claim of somebody who has signed in and must wait; null for nobody. */
    String claim(Decision decision, long now) {
        String room = decision.room();
        String account = decision.account();
        return account == null ? null : claimKeys.get(room).claim(room, account, now);
    }

    /** Who has signed in has the pass of their account, or one without a session, of a minute in which Redis was away. */
    private WaitroomPass ownPass(WaitroomFilter.Facts facts, String room, BiFunction<String, String, WaitroomPass> read) {
        String account = accountOf(facts, room);
        for (String text : WaitroomCookies.shown(facts, room)) {
            WaitroomPass pass = read.apply(room, text);
            if (pass != null && (account == null || account.equals(pass.ticketId()) || !pass.hasSession())) return pass;
        }
        return null;
    }

    private String accountOf(WaitroomFilter.Facts facts, String room) {
        WaitroomClaimKey key = claimKeys.get(room);
        boolean signedIn = key != null && facts.user() != null && !facts.user().isEmpty();
        return signedIn ? key.account(room, facts.user()) : null;
    }
}
