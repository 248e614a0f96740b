import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A site on the JDK's own server behind the gate: {@code javac *.java && java Site http://127.0.0.1:8080 3000}. */
public final class Site {
    private static final Pattern SIGN_IN = Pattern.compile("/sign-in\\?user=(\\w+)");
    private static final Pattern SESSION = Pattern.compile("(?:^|; )session=([\\w-]+)");
    private static final String CLAIM_KEY = System.getenv("CLAIM_KEY");
    /** Who has signed in, by session. This site believes anybody who says who they are: yours asks for a password first. */
    private static final Map<String, String> USERS = new ConcurrentHashMap<>();

    /** What the site answers. */
    private record Page(int status, String text, List<String> cookies) {}

    private Site() {}

    /** Arguments: Waitroom's address, this site's port, and "open" to let people in while Waitroom is away. */
    public static void main(String[] args) throws IOException {
        String url = args.length > 0 ? args[0] : "http://127.0.0.1:8080";
        int port = args.length > 1 ? Integer.parseInt(args[1]) : 3000;
        boolean open = args.length > 2 && args[2].equals("open");
        WaitroomFilter gate =
            new WaitroomFilter(url, url, "http://127.0.0.1:" + port, Map.of("/concert", "concert"), open)
                .withFinish(List.of("POST /concert/order"));
        if ("true".equals(System.getenv("STRICT"))) gate.withStrict();
        if (CLAIM_KEY != null) gate.withClaimKeys(Map.of("concert", CLAIM_KEY)); // every account has one place
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
        server.createContext("/", exchange -> handle(gate, exchange));
        server.setExecutor(Executors.newFixedThreadPool(8));
        server.start();
        System.out.println("http://127.0.0.1:" + port);
    }

    /** Asks the gate first. What it adds to the site's answer is known once that has a status. */
    private static void handle(WaitroomFilter gate, HttpExchange exchange) throws IOException {
        URI at = exchange.getRequestURI();
        // In `//x/concert` and `http://x/concert` the JDK reads x as a host, and /concert as the path.
        if (at.isAbsolute() || at.getRawAuthority() != null || at.getRawPath() == null) {
            send(exchange, 400, "not an address of this site\n");
            return;
        }
        var facts = new WaitroomFilter.Facts(exchange.getRequestMethod(), at.getRawPath(), at.getRawQuery(),
            exchange.getRequestHeaders()::get, userOf(exchange));
        WaitroomFilter.Visit visit = gate.visit(facts);
        WaitroomFilter.Answer answer = visit.answer();
        if (answer != null) {
            answer.headers().forEach(exchange.getResponseHeaders()::set);
            send(exchange, answer.status(), answer.body());
            return;
        }
        Page page = page(at);
        page.cookies().forEach(value -> exchange.getResponseHeaders().add("Set-Cookie", value));
        visit.cookies(page.status()).forEach(value -> exchange.getResponseHeaders().add("Set-Cookie", value));
        send(exchange, page.status(), page.text());
    }

    /** The site itself. */
    private static Page page(URI at) {
        List<String> cookies = new ArrayList<>();
        if (at.getRawPath().startsWith("/concert")) cookies.add("basket=1");
        Matcher signsIn = SIGN_IN.matcher(at.toString());
        if (CLAIM_KEY != null && signsIn.matches()) {
            String session = UUID.randomUUID().toString();
            USERS.put(session, signsIn.group(1));
            cookies.add("session=" + session + "; Path=/; HttpOnly; SameSite=Lax");
        }
        boolean fails = "fail".equals(at.getRawQuery()); // a failed order
        return new Page(fails ? 500 : 200, "the site, at " + at + "\n", cookies);
    }

    private static String userOf(HttpExchange exchange) {
        List<String> cookies = exchange.getRequestHeaders().getOrDefault("Cookie", List.of());
        Matcher session = SESSION.matcher(String.join("; ", cookies));
        return session.find() ? USERS.get(session.group(1)) : null;
    }

    private static void send(HttpExchange exchange, int status, String text) throws IOException {
        try (exchange) {
            byte[] body = text.getBytes(StandardCharsets.UTF_8);
            boolean bare = body.length == 0 || exchange.getRequestMethod().equals("HEAD");
            exchange.sendResponseHeaders(status, bare ? -1 : body.length);
            if (!bare) exchange.getResponseBody().write(body);
        }
    }
}
