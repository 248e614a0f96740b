import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** The cookies of a gate: the passes and the secret that a browser shows, and the Set-Cookie values it is given. */
final class WaitroomCookies {
    private static final String PASS = "waitroom-pass-";
    private static final String TICKET = "waitroom-ticket-";
    private static final String BROWSER = "waitroom-browser";
    private static final long BROWSER_S = 604_800;
    private static final int MOST_TRIED = 4; // cookies that one request may show
    private static final Pattern SECRET = Pattern.compile("[A-Za-z0-9_-]{32}");

    private final boolean secure;

    WaitroomCookies(String site) {
        this.secure = site.startsWith("https:");
    }

    /** The texts that may be passes; at most four cookies, because another page may have planted some. */
    static List<String> shown(WaitroomFilter.Facts facts, String room) {
        List<String> texts = new ArrayList<>();
        String[] parts = parts(facts);
        for (String name : List.of("__Host-" + PASS + room, PASS + room)) { // the second is for plain http
            for (String part : parts) {
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
    String secretOf(WaitroomFilter.Facts facts) {
        String known = named(BROWSER) + "=";
        for (String part : parts(facts)) {
            String text = part.strip();
            if (text.startsWith(known) && SECRET.matcher(text.substring(known.length())).matches()) {
                return text.substring(known.length());
            }
        }
        return null;
    }

    private static String[] parts(WaitroomFilter.Facts facts) {
        List<String> lines = facts.headers().apply("Cookie");
        return String.join(";", lines == null ? List.of() : lines).split(";");
    }

    /** Keeps the secret of a browser. */
    String browser(String secret) {
        return cookie(BROWSER, secret, BROWSER_S);
    }

    String pass(WaitroomPass pass) {
        long left = Math.max(1, pass.expires() - System.currentTimeMillis() / 1000);
        return cookie(PASS + pass.room(), pass.text(), left);
    }

    /** Removes what a finished session has left. */
    List<String> none(String room) {
        return List.of(cookie(PASS + room, "", 0), cookie(TICKET + room, "", 0));
    }

    private String cookie(String name, String value, long seconds) {
        return named(name) + "=" + value + "; Path=/; HttpOnly; SameSite=Lax; Max-Age=" + seconds + (secure ? "; Secure" : "");
    }

    private String named(String name) {
        return (secure ? "__Host-" : "") + name;
    }
}
