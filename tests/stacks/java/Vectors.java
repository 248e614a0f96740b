import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PublicKey;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Runs the vectors of the contract, docs/gate-contract.md: {@code java Vectors contract}. Reports the differences. */
public final class Vectors {
    private static final List<String> WRONG = new ArrayList<>();
    private static int count;

    private Vectors() {}

    public static void main(String[] args) throws IOException {
        Path folder = Path.of(args[0]);
        passes(read(folder, "passes"));
        paths(read(folder, "paths"));
        returns(read(folder, "returns"));
        claims(read(folder, "claims"));
        decisions(read(folder, "decisions"));
        WRONG.forEach(System.out::println);
        System.out.println(count + " vectors, " + WRONG.size() + " wrong");
    }

    private static void passes(Map<String, Object> given) {
        for (Map<String, Object> one : cases(given, "cases")) {
            expect(text(one, "name"), one.get("good"), pass(given, text(one, "room"), text(one, "pass")) != null);
        }
    }

    private static WaitroomPass pass(Map<String, Object> given, String room, String pass) {
        try {
            Map<String, Object> jwks = map(given, "jwks");
            Map<String, PublicKey> keys = WaitroomKeys.read(jwks);
            return WaitroomPass.verified(keys::get, () -> text(jwks, "issuer"), room, pass, (Long) given.get("now_s"));
        } catch (GeneralSecurityException damaged) {
            throw new IllegalStateException(damaged);
        }
    }

    private static void paths(Map<String, Object> given) {
        List<Map<String, Object>> tables = cases(given, "tables");
        for (Map<String, Object> one : cases(given, "cases")) {
            Map<String, Object> table = tables.get(((Long) one.get("table")).intValue());
            var paths = new WaitroomPaths(strings(map(table, "rules")), list(table, "bypass_paths"));
            String room;
            try {
                var place = paths.of(text(one, "path"));
                room = place == null ? "" : place.room(); // our JSON reader returns "" for null
            } catch (IllegalArgumentException refused) {
                room = "refused";
            }
            expect(text(one, "path"), one.containsKey("refused") ? "refused" : text(one, "room"), room);
        }
    }

    private static void returns(Map<String, Object> given) {
        for (Map<String, Object> one : cases(given, "cases")) {
            String back = WaitroomReturns.to(text(given, "site"), text(one, "path"), text(one, "query"));
            expect(text(one, "path"), text(one, "return"), back);
            String page = WaitroomReturns.page(text(given, "public_url"), text(given, "room"), text(one, "return"));
            expect(text(one, "path"), text(one, "page"), page);
        }
        WaitroomFilter gate = new WaitroomFilter("http://10.0.0.7:8080", text(given, "public_url"), text(given, "site"),
            Map.of("/concert", "concert"), false);
        for (Map<String, Object> one : cases(given, "codes")) {
            var facts = new WaitroomFilter.Facts("GET", "/concert", text(one, "query"), name -> List.of());
            var decision = gate.plan.judge(facts, (room, text) -> null, 0);
            expect(text(one, "query"), text(one, "code"), decision.code() == null ? "" : decision.code());
            if (decision.code() != null) expect(text(one, "query"), text(one, "clean"), decision.url());
        }
    }

    private static void claims(Map<String, Object> given) {
        for (Map<String, Object> one : cases(given, "keys")) {
            boolean good = true;
            try {
                new WaitroomClaimKey(text(one, "key"));
            } catch (IllegalArgumentException refused) {
                good = false;
            }
            expect(text(one, "key"), one.get("good"), good);
        }
        for (Map<String, Object> one : cases(given, "cases")) {
            var key = new WaitroomClaimKey(text(one, "key"));
            expect(text(one, "user"), text(one, "account"), key.account(text(one, "room"), text(one, "user")));
        }
        for (Map<String, Object> one : cases(given, "claims")) {
            var key = new WaitroomClaimKey(text(one, "key"));
            byte[] nonce = Base64.getUrlDecoder().decode(text(one, "nonce"));
            String claim = key.claim(text(one, "room"), text(one, "account"), (Long) given.get("now_s"), nonce);
            expect(text(one, "room"), text(one, "claim"), claim);
        }
    }

    private static void decisions(Map<String, Object> given) {
        for (Map<String, Object> one : cases(given, "cases")) {
            Map<String, Object> options = map(one.containsKey("options") ? one : given, "options");
            WaitroomFilter gate = new WaitroomFilter("http://10.0.0.7:8080", text(given, "public_url"), text(given, "site"),
                strings(map(options, "rules")), list(options, "bypass_paths"), false);
            gate.withFinish(list(options, "finish"));
            if (options.get("renew").equals(false)) gate.withoutRenewal();
            if (one.containsKey("user")) gate.withClaimKeys(strings(map(given, "claim_keys")));
            Map<String, Object> request = map(one, "request");
            Map<String, String> headers = strings(map(request, "headers"));
            var facts = new WaitroomFilter.Facts(text(request, "method"), text(request, "path"), text(request, "query"),
                name -> headers.containsKey(name.toLowerCase()) ? List.of(headers.get(name.toLowerCase())) : null,
                text(one, "user"));
            var decision = gate.plan.judge(facts, (room, text) -> pass(given, room, text), (Long) given.get("now_s"));
            expect(text(one, "name"), map(one, "expect"), told(decision, facts));
        }
    }

    /** A decision as the vectors write it. */
    private static Map<String, Object> told(WaitroomPlan.Decision decision, WaitroomFilter.Facts facts) {
        boolean program = facts.isProgram();
        return switch (decision.what()) {
            case "refuse" -> Map.of("do", "refuse", "status", 400L);
            case "redeem" -> Map.of("do", "redeem", "code", decision.code(), "clean", decision.url());
            case "wait" -> {
                Map<String, Object> made = new HashMap<>(Map.of("do", program ? "program" : "wait"));
                made.putAll(Map.of("room", decision.room(), "url", decision.url()));
                if (decision.account() != null) made.put("account", decision.account());
                yield made;
            }
            case "pass" -> Map.of("do", decision.finish() ? "finish" : decision.renew() ? "renew" : "pass", "room", decision.room());
            default -> Map.of("do", decision.what());
        };
    }

    private static void expect(String name, Object expected, Object actual) {
        count++;
        if (!Objects.equals(expected, actual)) WRONG.add(name + ": " + actual + ", not " + expected);
    }

    private static Map<String, Object> read(Path folder, String name) throws IOException {
        return WaitroomJson.object(Files.readAllBytes(folder.resolve(name + ".json")));
    }

    private static String text(Map<String, Object> given, String name) {
        return (String) given.get(name);
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> map(Map<String, Object> given, String name) {
        return (Map<String, Object>) given.get(name);
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> cases(Map<String, Object> given, String name) {
        return (List<Map<String, Object>>) given.get(name);
    }

    @SuppressWarnings("unchecked")
    private static List<String> list(Map<String, Object> given, String name) {
        return (List<String>) given.get(name);
    }

    private static Map<String, String> strings(Map<String, Object> given) {
        Map<String, String> made = new HashMap<>();
        given.forEach((name, value) -> made.put(name, (String) value));
        return made;
    }
}
