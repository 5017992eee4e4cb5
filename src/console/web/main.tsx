/** The console's page. Everything that it shows comes from Kubernetes' objects, with the rights of who is signed in; it keeps nothing. */
import { render } from "preact";
import { loadSession, session } from "./api.ts";
import { App } from "./app.tsx";
import { tick } from "./clock.ts";
import { listenToKeys } from "./keys.ts";
import "@xterm/xterm/css/xterm.css";
import "./style.css";

listenToKeys();
tick();
render(<App />, document.getElementById("app")!);
loadSession().catch(() => {
  session.value = null;
});
