/** undici's connections alone: its index loads fetch, WebSocket, caches and mocks, too, which is a tenth of a second of each start. */
import Agent from "undici/lib/dispatcher/agent.js";
import EnvHttpProxyAgent from "undici/lib/dispatcher/env-http-proxy-agent.js";

export { Agent, EnvHttpProxyAgent };
