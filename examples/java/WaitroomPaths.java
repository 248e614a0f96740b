import java.text.Normalizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The protected and free parts of a site, and which of them a path belongs to.
 *
 * <p>Servers differ in how they read {@code %2e%2e}, {@code //}, {@code ;x}, capitals and wide letters. So a
 * path is read in every way that any of them might, and is protected if one reading is.
 */
final class WaitroomPaths {
    /** A protected or free part of the site: {@code room} is null if everybody may go. */
    record Place(String path, String room, List<String> parts) {}

    private static final int LONGEST = 8_192;
    private static final String LOST = "\ufffd";
    private static final Pattern WIDE = Pattern.compile("%[uU]([0-9a-fA-F]{4})");
    private static final Pattern UNSEEN = Pattern.compile("\\p{Cf}");
    // Nor can we judge a character that this Java does not know yet.
    private static final Pattern CONTROL = Pattern.compile("[\\p{Cc}\\p{Cs}\\p{Cn}]");

    private final List<Place> places = new ArrayList<>();

    WaitroomPaths(Map<String, String> rules, List<String> bypasses) {
        rules.forEach((path, room) -> places.add(new Place(path, room, segments(folded(path)))));
        bypasses.forEach(path -> places.add(new Place(path, null, segments(folded(path)))));
        // If a rule and a bypass have the same path, the rule wins: protecting is the safer error.
        places.sort(Comparator.<Place>comparingInt(place -> -place.parts().size())
            .thenComparing(place -> place.parts().stream().filter("*"::equals).count())
            .thenComparing(place -> place.room() == null));
    }

    /** Returns the place of a path, or null if it is free. */
    Place of(String path) {
        Set<List<String>> ways = readings(path);
        List<String> exact = plain(path, ways);
        Place best = null;
        for (List<String> way : ways) {
            Place place = first(way, exact);
            if (place == null) continue;
            // A pass for one room must not open the other.
            if (best != null && !best.room().equals(place.room())) throw new IllegalArgumentException("two rooms");
            if (best == null || place.path().length() > best.path().length()) best = place;
        }
        return best;
    }

    private Place first(List<String> way, List<String> exact) {
        for (Place place : places) {
            if (!covers(place.parts(), way)) continue;
            if (place.room() != null) return place;
            // `/concert/HEALTH` may be a seat of that name: a bypass is for one spelling only.
            if (exact != null && covers(written(place.path()), exact)) return null;
        }
        return null;
    }

    private static boolean covers(List<String> wanted, List<String> parts) {
        if (wanted.size() > parts.size()) return false;
        for (int at = 0; at < wanted.size(); at++) {
            if (!wanted.get(at).equals("*") && !wanted.get(at).equals(parts.get(at))) return false;
        }
        return true;
    }

    private static Set<List<String>> readings(String path) {
        if (path.length() > LONGEST) throw new IllegalArgumentException("endless path");
        String text = folded(path);
        Set<List<String>> ways = new LinkedHashSet<>();
        for (String one : List.of(text, text.replace(LOST, ""))) {
            ways.add(segments(one));
            ways.add(resolved(segments(one)));
        }
        return ways;
    }

    /** Returns the segments of a path with only one reading, spelled plainly; else null. */
    private static List<String> plain(String path, Set<List<String>> ways) {
        String text = "/" + String.join("/", ways.iterator().next());
        String given = caseless(path);
        return ways.size() == 1 && (given.equals(text) || given.equals(text + "/")) ? written(path) : null;
    }

    private static List<String> written(String path) {
        return Arrays.stream(path.split("/")).filter(part -> !part.isEmpty()).toList();
    }

    private static String caseless(String text) {
        return text.toLowerCase(Locale.ROOT).replace("\u00df", "ss").replace('\u03c2', '\u03c3');
    }

    /** Returns a path without any layer of encoding, case and look-alike spelling. */
    static String folded(String path) {
        for (int layer = 0; layer < 6; layer++) {
            String wide = WIDE.matcher(path).replaceAll(found ->
                Matcher.quoteReplacement(String.valueOf((char) Integer.parseInt(found.group(1), 16))));
            String text = caseless(Normalizer.normalize(WaitroomText.unescaped(wide), Normalizer.Form.NFKC));
            text = UNSEEN.matcher(text).replaceAll("");
            if (CONTROL.matcher(text).find()) break;
            if (text.equals(path)) return text;
            path = text;
        }
        throw new IllegalArgumentException("unreadable path");
    }

    static List<String> segments(String text) {
        List<String> found = new ArrayList<>();
        for (String part : text.split("[/\\\\]+")) {
            String bare = part.split("[;?#]", 2)[0].strip();
            if (!bare.equals("..")) bare = bare.replaceFirst("[. ]+$", "");
            if (!bare.isEmpty()) found.add(bare);
        }
        return found;
    }

    static List<String> resolved(List<String> parts) {
        List<String> found = new ArrayList<>();
        for (String part : parts) {
            if (!part.equals("..")) found.add(part);
            else if (!found.isEmpty()) found.remove(found.size() - 1);
        }
        return found;
    }
}
