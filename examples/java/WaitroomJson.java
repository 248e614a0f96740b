import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** As much of JSON as keys and passes need; whole numbers are Long, other numbers are refused. */
final class WaitroomJson {
    private static final int DEEPEST = 8;
    private final String text;
    private int at;

    private WaitroomJson(String text) {
        this.text = text;
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> object(byte[] data) {
        WaitroomJson json = new WaitroomJson(new String(data, StandardCharsets.UTF_8));
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
