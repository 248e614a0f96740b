import { StrictMode } from "react";
import { renderToString } from "react-dom/server";
import { App } from "./App.tsx";

/** The page before the browser has asked Waitroom. */
export const html = () => renderToString(<StrictMode><App base={WAITROOM_URL} room={ROOM} /></StrictMode>);
