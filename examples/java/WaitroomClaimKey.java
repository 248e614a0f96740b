import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Knows the accounts of a room, and signs claims: docs/gate-contract.md has the bytes. */
final class WaitroomClaimKey {
    private static final String PREFIX = "wrc_";
    private static final int LIFE_S = 45;
    private static final int BEGINNING = 5; // version and key id: a claim begins like its key
    private static final int SALT = 16;
    private static final int LONGEST_USER = 1_024;
    private final byte[] head;
    private final byte[] salt;
    private final byte[] key;

    WaitroomClaimKey(String text) {
        byte[] found = text.startsWith(PREFIX) ? WaitroomText.decoded(text.substring(PREFIX.length())) : new byte[0];
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
        return WaitroomText.encoded(Arrays.copyOf(hmac(salt, named), 12));
    }

    /** Returns a claim: whoever brings it to the waiting page, soon, has this account. */
    String claim(String room, String account, long now) {
        return claim(room, account, now, WaitroomText.random(8));
    }

    String claim(String room, String account, long now, byte[] nonce) {
        byte[] name = room.getBytes(StandardCharsets.US_ASCII);
        byte[] signed = ByteBuffer.allocate(head.length + 24 + name.length).put(head).putInt((int) (now + LIFE_S))
            .put(nonce).put(WaitroomText.decoded(account)).put(name).array();
        byte[] mac = hmac(key, signed);
        return WaitroomText.encoded(ByteBuffer.allocate(signed.length + 16).put(signed).put(mac, 0, 16).array());
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
}
