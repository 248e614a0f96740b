import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Small texts: base64url, percent-encoding, and what nobody can guess. */
final class WaitroomText {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final Pattern BYTES = Pattern.compile("(?:%[0-9a-fA-F]{2})+");

    private WaitroomText() {}

    /** Reads base64url. The last character has spare bits, which would allow several spellings of one pass. */
    static byte[] decoded(String part) {
        byte[] found = Base64.getUrlDecoder().decode(part);
        if (!encoded(found).equals(part)) throw new IllegalArgumentException("not spelled as a pass is");
        return found;
    }

    static String encoded(byte[] data) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(data);
    }

    static byte[] random(int size) {
        byte[] made = new byte[size];
        RANDOM.nextBytes(made);
        return made;
    }

    /** Decodes one layer of {@code %XX}; invalid UTF-8 becomes U+FFFD. */
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

    /** Percent-encodes all but letters, digits, {@code _} and what is {@code safe}. */
    static String quoted(String text, String safe) {
        StringBuilder made = new StringBuilder();
        for (byte one : text.getBytes(StandardCharsets.UTF_8)) {
            boolean plain = one > 0 && (Character.isLetterOrDigit(one) || one == '_' || safe.indexOf(one) >= 0);
            made.append(plain ? String.valueOf((char) one) : String.format("%%%02X", one));
        }
        return made.toString();
    }
}
