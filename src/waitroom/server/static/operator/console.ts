// The operator page's script. Without it every page works all the same; it is then renewed by reloading.
import { follow } from "./live";
import { showTimes } from "./times";

showTimes(document);
const main = document.getElementById("main");
if (main) follow(main);
