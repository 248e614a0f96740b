import com.sun.net.httpserver.Filter;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.Executors;

/** A site on the JDK's own server behind the gate: {@code javac *.java && java Site http://127.0.0.1:8080 3000}. */
public final class Site {
    private Site() {}

    /** Arguments: Waitroom's address, this site's port, and "open" to let people in while Waitroom is away. */
    public static void main(String[] args) throws IOException {
        String url = args.length > 0 ? args[0] : "http://127.0.0.1:8080";
        int port = args.length > 1 ? Integer.parseInt(args[1]) : 3000;
        boolean open = args.length > 2 && args[2].equals("open");
        WaitroomFilter gate =
            new WaitroomFilter(url, url, "http://127.0.0.1:" + port, Map.of("/concert", "concert"), open);
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
        server.createContext("/", exchange -> answer(exchange, 200, "the site, at " + exchange.getRequestURI() + "\n"))
            .getFilters().add(new Gate(gate));
        server.setExecutor(Executors.newFixedThreadPool(8));
        server.start();
        System.out.println("http://127.0.0.1:" + port);
    }

    /** The same shape as a servlet filter: answer, or let the chain go on. */
    private static final class Gate extends Filter {
        private final WaitroomFilter gate;

        Gate(WaitroomFilter gate) {
            this.gate = gate;
        }

        @Override
        public void doFilter(HttpExchange exchange, Chain chain) throws IOException {
            var at = exchange.getRequestURI();
            // In `//x/concert` and `http://x/concert` the JDK takes x for a host, and /concert for the path.
            if (at.isAbsolute() || at.getRawAuthority() != null || at.getRawPath() == null) {
                answer(exchange, 400, "not an address of this site\n");
                return;
            }
            var facts = new WaitroomFilter.Facts(exchange.getRequestMethod(), at.getRawPath(), at.getRawQuery(),
                exchange.getRequestHeaders()::get);
            WaitroomFilter.Answer found = gate.decide(facts);
            if (found == null) {
                chain.doFilter(exchange);
                return;
            }
            found.headers().forEach(exchange.getResponseHeaders()::set);
            answer(exchange, found.status(), found.body());
        }

        @Override
        public String description() {
            return "lets in who has a pass";
        }
    }

    private static void answer(HttpExchange exchange, int status, String text) throws IOException {
        try (exchange) {
            byte[] body = text.getBytes(StandardCharsets.UTF_8);
            boolean bare = body.length == 0 || exchange.getRequestMethod().equals("HEAD");
            exchange.sendResponseHeaders(status, bare ? -1 : body.length);
            if (!bare) exchange.getResponseBody().write(body);
        }
    }
}
