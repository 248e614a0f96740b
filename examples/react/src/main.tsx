import { StrictMode } from "react";
import { hydrateRoot } from "react-dom/client";
import { App } from "./App.tsx";

const app = <StrictMode><App base={WAITROOM_URL} room={ROOM} /></StrictMode>;
hydrateRoot(document.getElementById("app")!, app);
