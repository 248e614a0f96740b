// The operator page's script. Every page also works without it, and then updates by reloading.
import { Charts } from "./charts";
import { filterRooms } from "./filter";
import { listenToKeys } from "./keyboard";
import { follow } from "./live";
import { showTimes } from "./times";

showTimes(document);
const main = document.getElementById("main"), section = document.getElementById("history");
const charts = section ? new Charts(section) : null;
if (main) {
  follow(main);
  filterRooms(main);
}
listenToKeys(charts);
void charts?.load();
