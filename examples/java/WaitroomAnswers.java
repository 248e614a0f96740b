import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.Map;

/** A gate's own answers: a redirect, a form with a claim, a problem document, or a page that tries again. */
final class WaitroomAnswers {
    private WaitroomAnswers() {}

    /** {@code cookie} is null for none. */
    static WaitroomFilter.Answer redirect(String location, String cookie) {
        Map<String, String> headers = new HashMap<>(Map.of("Location", location, "Cache-Control", "no-store"));
        if (cookie != null) headers.put("Set-Cookie", cookie);
        return new WaitroomFilter.Answer(303, headers, "");
    }

    /** Sends a browser to the waiting page, with the hash of its secret, and with who it is. */
    static WaitroomFilter.Answer waitingPage(String page, String known, String claim, WaitroomCookies cookies) {
        String secret = known == null ? WaitroomText.encoded(WaitroomText.random(24)) : known;
        String cookie = known == null ? cookies.browser(secret) : null;
        try {
            byte[] text = ("waitroom browser " + secret).getBytes(StandardCharsets.UTF_8);
            String url = page + "&browser=" + WaitroomText.encoded(MessageDigest.getInstance("SHA-256").digest(text));
            return claim == null ? redirect(url, cookie) : handOver(url.replaceFirst("\\?", "/claim?"), claim, cookie);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** Sends the claim in the body of a form, never in an address; the waiting page learns our origin and no more. */
    private static WaitroomFilter.Answer handOver(String action, String claim, String cookie) {
        String nonce = WaitroomText.encoded(WaitroomText.random(16));
        URI target = URI.create(action);
        Map<String, String> headers = new HashMap<>(Map.of(
            "Content-Type", "text/html; charset=utf-8", "Cache-Control", "no-store", "Referrer-Policy", "strict-origin",
            "X-Content-Type-Options", "nosniff", "Content-Security-Policy", "default-src 'none'; script-src 'nonce-" + nonce
                + "'; form-action " + target.getScheme() + "://" + target.getRawAuthority() + "; base-uri 'none'; frame-ancestors 'none'"));
        if (cookie != null) headers.put("Set-Cookie", cookie);
        String page = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"robots\" content=\"noindex\">"
            + "<title>One moment, please</title><h1>One moment, please</h1><form method=\"post\" action=\"" + action.replace("&", "&amp;")
            + "\"><input type=\"hidden\" name=\"claim\" value=\"" + claim + "\"><button>Go to the waiting room</button></form>"
            + "<script nonce=\"" + nonce + "\">document.forms[0].submit()</script>";
        return new WaitroomFilter.Answer(200, headers, page);
    }

    /** {@code more} are further members of the document, each after a comma. */
    static WaitroomFilter.Answer problem(int status, String code, String detail, String more) {
        String title = switch (status) {
            case 429 -> "Please wait";
            case 503 -> "Not available for a moment";
            default -> "The request cannot be read";
        };
        Map<String, String> headers =
            new HashMap<>(Map.of("Content-Type", "application/problem+json", "Cache-Control", "no-store"));
        if (status != 400) headers.put("Retry-After", "5");
        return new WaitroomFilter.Answer(status, headers, "{\"type\":\"about:blank\",\"title\":\"" + title + "\",\"status\":" + status
            + ",\"detail\":\"" + detail + "\",\"code\":\"" + code + "\"" + more + "}");
    }

    /** For somebody without a pass while Waitroom is away. */
    static WaitroomFilter.Answer away(boolean program) {
        if (program) {
            return problem(503, "waitroom_away", "the waiting room cannot be reached; try again", "");
        }
        return new WaitroomFilter.Answer(503,
            Map.of("Content-Type", "text/html; charset=utf-8", "Retry-After", "5", "Cache-Control", "no-store"),
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"5\">"
            + "<title>One moment, please</title><h1>One moment, please</h1>"
            + "<p>The waiting room cannot be reached. This page tries again by itself.</p>");
    }
}
