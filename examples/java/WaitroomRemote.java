import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Calls to Waitroom: each has a deadline. {@code patience} is how many times the usual one. */
final class WaitroomRemote {
    private static final Duration DEADLINE = Duration.ofMillis(Long.getLong("waitroom.deadline_ms", 250));

    /** What Waitroom said; the status is 0 if a call failed. */
    record Reply(int status, byte[] body) {
        static final Reply NONE = new Reply(0, new byte[0]);

        /** Tells whether it is about the request, not from a Waitroom that cannot answer now. */
        boolean isVerdict() {
            return status >= 200 && status < 500 && status != 429 && (status < 300 || status >= 400);
        }
    }

    private final HttpClient client = HttpClient.newBuilder()
        .version(HttpClient.Version.HTTP_1_1).connectTimeout(DEADLINE).build();
    private final URI base;

    WaitroomRemote(String url) {
        this.base = URI.create(url + "/");
    }

    /** Calls without waiting for the answer; it never fails. {@code pass} and {@code body} may be null. */
    CompletableFuture<Reply> ask(String method, String path, String pass, String body, int patience) {
        var sent = body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body);
        HttpRequest.Builder request = to(path, patience).header("Cache-Control", "no-cache").method(method, sent);
        if (pass != null) request.header("Authorization", "Bearer " + pass);
        if (body != null) request.header("Content-Type", "application/json");
        return client.sendAsync(request.build(), HttpResponse.BodyHandlers.ofByteArray())
            .thenApply(answer -> new Reply(answer.statusCode(), answer.body()))
            .exceptionally(failed -> Reply.NONE);
    }

    /** Waits for an answer; how it fails tells whether Waitroom is late or gone. */
    Reply get(String path) throws IOException, InterruptedException {
        return sent(to(path, 1).build());
    }

    /** The same, with a body of JSON. */
    Reply post(String path, String body, int patience) throws IOException, InterruptedException {
        return sent(to(path, patience).header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body)).build());
    }

    private Reply sent(HttpRequest request) throws IOException, InterruptedException {
        HttpResponse<byte[]> answer = client.send(request, HttpResponse.BodyHandlers.ofByteArray());
        return new Reply(answer.statusCode(), answer.body());
    }

    private HttpRequest.Builder to(String path, int patience) {
        return HttpRequest.newBuilder(base.resolve(path)).timeout(DEADLINE.multipliedBy(patience));
    }
}
