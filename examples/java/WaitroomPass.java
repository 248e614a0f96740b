import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.PublicKey;
import java.security.Signature;
import java.util.Arrays;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;

/** A good pass, and which text is one: signature, kind, issuer, room and end. Times are in seconds. */
record WaitroomPass(String room, String ticketId, String session, long issued, long expires, String text) {
    static final String ALGORITHM = "ES256"; // Waitroom's default
    private static final String TYPE = "waitroom-pass+jwt";
    private static final int LEEWAY_S = 5;
    private static final int LONGEST = 2048;
    private static final BigInteger ORDER =
        new BigInteger("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551", 16);

    /** Tells whether half of the session is over. */
    boolean isLate(long now) {
        return 2 * now >= issued + expires;
    }

    /** Anybody may have been given it while the backend was away: there is nothing to renew or end. */
    boolean hasSession() {
        return !session.equals("0");
    }

    /** Names the session; a pass without one stands for itself. */
    String key() {
        return hasSession() ? room + " " + session : text;
    }

    /**
     * Returns the pass of this room in a text, or null if it is none. {@code keys} returns a key by its name, and may
     * fetch it; who issues passes is known only then.
     */
    static WaitroomPass verified(
            Function<String, PublicKey> keys, Supplier<String> issuers, String room, String text, long now) {
        try {
            String[] parts = text.split("\\.", -1);
            if (text.length() > LONGEST || parts.length != 3) return null;
            Map<String, Object> head = WaitroomJson.object(WaitroomText.decoded(parts[0]));
            // The key fixes the algorithm; what a pass claims is only compared.
            if (!ALGORITHM.equals(head.get("alg")) || !TYPE.equals(head.get("typ")) || head.size() != 3) return null;
            PublicKey key = head.get("kid") instanceof String kid ? keys.apply(kid) : null;
            byte[] signed = (parts[0] + "." + parts[1]).getBytes(StandardCharsets.US_ASCII);
            if (key == null || !signedBy(key, signed, WaitroomText.decoded(parts[2]))) return null;
            Map<String, Object> claims = WaitroomJson.object(WaitroomText.decoded(parts[1]));
            String issuer = issuers.get();
            if (room.equals(claims.get("aud"))
                && claims.get("iss") instanceof String from && (issuer == null || issuer.equals(from))
                && claims.get("sub") instanceof String ticket && ticket.matches("[A-Za-z0-9_-]{1,64}")
                && claims.get("jti") instanceof String session && session.matches("[0-9]{1,20}")
                && claims.get("exp") instanceof Long exp && now < exp + LEEWAY_S
                && claims.get("iat") instanceof Long iat && iat <= now + LEEWAY_S
                && claims.getOrDefault("nbf", iat) instanceof Long begin && begin <= now + LEEWAY_S) {
                return new WaitroomPass(room, ticket, session, iat, exp, text);
            }
            return null;
        } catch (IllegalArgumentException | GeneralSecurityException wrong) {
            return null;
        }
    }

    /** JOSE concatenates r and s; Java calls that P1363. */
    private static boolean signedBy(PublicKey key, byte[] signed, byte[] signature) throws GeneralSecurityException {
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
}
