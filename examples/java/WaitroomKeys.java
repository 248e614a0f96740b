import java.io.IOException;
import java.math.BigInteger;
import java.net.http.HttpTimeoutException;
import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.ECParameterSpec;
import java.security.spec.ECPoint;
import java.security.spec.ECPublicKeySpec;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** The public keys of Waitroom: kept while it is away, fetched again when old or when one is missing. */
final class WaitroomKeys {
    private static final long FRESH_MS = 3_000; // a removed key is refused after this
    private static final long PAUSE_MS = 200; // between two fetches: forgers name keys that do not exist
    private static final long REST_MS = 1_000; // after a fetch that failed
    private static final long AWAY_MS = 3_000; // after this time a late Waitroom counts as away
    private static final int FEWEST_FAILURES = 3;

    private final WaitroomRemote remote;
    private volatile Map<String, PublicKey> known = Map.of();
    private volatile String issuer; // another deployment may have the same keys
    private volatile long fetchedAt = now() - 3_600_000;
    private volatile long triedAt = now() - 3_600_000;
    private volatile int failures; // written while holding the lock
    private volatile long silentSince;
    private volatile boolean away;

    WaitroomKeys(WaitroomRemote remote) {
        this.remote = remote;
    }

    /** Returns the key with a name, or null if Waitroom has none. */
    PublicKey of(String kid) {
        if (isOld() && failures > 0 && known.containsKey(kid)) {
            // While Waitroom is away, pass holders do not wait.
            if (now() - triedAt >= REST_MS) CompletableFuture.runAsync(() -> fetch(now()));
        } else if (isOld()) {
            fetch(now());
        }
        if (!known.containsKey(kid) && failures == 0) fetch(now());
        return known.get(kid);
    }

    /** Returns who issues passes, or null if Waitroom has not told. */
    String issuer() {
        return issuer;
    }

    /** Tells whether Waitroom is away. One late answer proves nothing: the network or we may be busy. */
    boolean away() {
        if (isOld()) fetch(now());
        return isOld() && away;
    }

    /** The same, without asking. */
    boolean knownAway() {
        return isOld() && away;
    }

    private boolean isOld() {
        return now() - fetchedAt > FRESH_MS;
    }

    /** Fetches the keys, unless another thread has started since {@code askedAt}, or it just failed. */
    private synchronized void fetch(long askedAt) {
        if (triedAt > askedAt || (failures > 0 && now() - triedAt < REST_MS)) return;
        try {
            Thread.sleep(Math.max(0, Math.min(PAUSE_MS, triedAt + PAUSE_MS - now())));
            triedAt = now();
            WaitroomRemote.Reply reply = remote.get(".well-known/jwks.json");
            if (reply.status() == 502) throw new IOException("a proxy found nobody");
            if (reply.status() != 200) throw new HttpTimeoutException("there, but " + reply.status());
            Map<String, Object> document = WaitroomJson.object(reply.body());
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

    /** Returns the keys of a JWKS document by their names. */
    static Map<String, PublicKey> read(Map<String, Object> set) throws GeneralSecurityException {
        AlgorithmParameters curve = AlgorithmParameters.getInstance("EC");
        curve.init(new ECGenParameterSpec("secp256r1"));
        ECParameterSpec p256 = curve.getParameterSpec(ECParameterSpec.class);
        Map<String, PublicKey> found = new HashMap<>();
        for (Object one : set.get("keys") instanceof List<?> list ? list : List.of()) {
            if (!(one instanceof Map<?, ?> key) || !WaitroomPass.ALGORITHM.equals(key.get("alg"))) continue;
            if (!"P-256".equals(key.get("crv"))) continue;
            ECPoint point = new ECPoint(number(key.get("x")), number(key.get("y")));
            PublicKey made = KeyFactory.getInstance("EC").generatePublic(new ECPublicKeySpec(point, p256));
            found.put(String.valueOf(key.get("kid")), made);
        }
        return Map.copyOf(found);
    }

    private static BigInteger number(Object text) {
        return new BigInteger(1, WaitroomText.decoded(String.valueOf(text)));
    }

    private static long now() {
        return System.nanoTime() / 1_000_000;
    }
}
