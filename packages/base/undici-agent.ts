/** undici's connections alone: its index loads fetch, WebSocket, caches and mocks, too, which is a tenth of a second of each start. */
import api from "undici/lib/api/index.js";
import Agent from "undici/lib/dispatcher/agent.js";
import Dispatcher from "undici/lib/dispatcher/dispatcher.js";
import EnvHttpProxyAgent from "undici/lib/dispatcher/env-http-proxy-agent.js";

// As its index does: what sends a request at once (`request`, `connect`, …), which a proxy's connections use.
Object.assign(Dispatcher.prototype, api);

export { Agent, EnvHttpProxyAgent };
