import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Where people come back to: always this site, and nothing in path or query can write a header. */
final class WaitroomReturns {
    private static final String CODE = "waitroom_code";
    private static final Pattern CODE_PART = Pattern.compile("(?:^|&)" + CODE + "=([A-Za-z0-9._~-]{16,128})(?=&|$)");
    private static final int LONGEST = 1_500;
    private static final String IN_PATH = "-._~/!$&'()*+,;=:@%";

    private WaitroomReturns() {}

    /** Returns the one-time code in a query, or null. */
    static String codeOf(String query) {
        Matcher found = CODE_PART.matcher(query);
        return found.find() ? found.group(1) : null;
    }

    /** Returns an address without a host: one slash, the path, and the query without a code. */
    static String onSite(String path, String query) {
        List<String> rest = new ArrayList<>(List.of(query.split("&")));
        rest.removeIf(part -> part.isEmpty() || isCode(part));
        String text = "/" + WaitroomText.quoted(path.replaceFirst("^[/\\\\]+", ""), IN_PATH);
        return rest.isEmpty() ? text : text + "?" + WaitroomText.quoted(String.join("&", rest), IN_PATH + "?");
    }

    /** Returns the address on the site; an endless one loses its query, then its path. */
    static String to(String site, String path, String query) {
        for (String text : List.of(site + onSite(path, query), site + onSite(path, ""))) {
            if (text.length() <= LONGEST) return text;
        }
        return site + "/";
    }

    /** Returns the address of the waiting page of a room. */
    static String page(String publicUrl, String room, String back) {
        return publicUrl + "/rooms/" + WaitroomText.quoted(room, "-._~") + "?return=" + WaitroomText.quoted(back, "-._~");
    }

    /** Tells whether a part of a query is a code, however its name is spelled. */
    private static boolean isCode(String part) {
        String name = WaitroomText.unescaped(part.split("=", 2)[0].replace('+', ' '));
        return name.strip().toLowerCase(Locale.ROOT).equals(CODE);
    }
}
