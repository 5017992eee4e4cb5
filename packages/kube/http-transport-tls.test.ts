import assert from "node:assert/strict";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import type { TLSSocket } from "node:tls";
import { selfSigned } from "@slipway/base/testing";
import { createHttpTransport } from "./http-transport.ts";

test("TLS: the client shows its certificate, and speaks to nobody whose own is not signed by the CA", async () => {
  const [server, client] = await Promise.all([
    selfSigned("server", { hosts: ["127.0.0.1"] }),
    selfSigned("client", { hosts: ["127.0.0.1"] }),
  ]);
  const listening = createServer({ ...server, ca: client.cert, requestCert: true }, (req, res) => {
    const { CN } = (req.socket as TLSSocket).getPeerCertificate().subject;
    res.end(`hello ${CN}`);
  });
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  const url = `https://127.0.0.1:${(listening.address() as AddressInfo).port}`;
  const trusting = createHttpTransport({ server: url, ca: server.cert, ...client });
  const stranger = createHttpTransport({ server: url, ca: client.cert });
  try {
    assert.equal((await trusting.request({ method: "GET", path: "/" })).body, "hello client");
    await assert.rejects(stranger.request({ method: "POST", path: "/", body: {} }), {
      code: "Unavailable",
      remedy: /certificate is signed by the given CA/,
    });
  } finally {
    await Promise.all([trusting.close(), stranger.close()]);
    listening.closeAllConnections();
    await new Promise((resolve) => listening.close(resolve));
  }
});

test("TLS: a renewed certificate is shown on new sockets; a refusal (401) asks for it, and the request is sent again", async () => {
  const [server, old, fresh] = await Promise.all([
    selfSigned("server", { hosts: ["127.0.0.1"] }),
    selfSigned("old", { hosts: ["127.0.0.1"] }),
    selfSigned("fresh", { hosts: ["127.0.0.1"] }),
  ]);
  const listening = createServer({ ...server, ca: [old.cert, fresh.cert], requestCert: true }, (req, res) => {
    const { CN } = (req.socket as TLSSocket).getPeerCertificate().subject;
    res.statusCode = CN === "old" && req.url === "/strict" ? 401 : 200;
    res.end(CN);
  });
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  const url = `https://127.0.0.1:${(listening.address() as AddressInfo).port}`;
  const certificates = async (refused: boolean) => ({ ca: server.cert, ...(refused ? fresh : old) });
  const transport = createHttpTransport({ server: url, ca: server.cert, ...old, certificates });
  try {
    assert.equal((await transport.request({ method: "GET", path: "/" })).body, "old");
    assert.equal((await transport.request({ method: "GET", path: "/strict" })).body, "fresh");
  } finally {
    await transport.close();
    listening.closeAllConnections();
    await new Promise((resolve) => listening.close(resolve));
  }
});

test("TLS: certificates that can't be read fail the request, not the transport's making", async () => {
  const transport = createHttpTransport({ server: "https://127.0.0.1:1", ca: "-----BEGIN CERTIFICATE-----\nnone" });
  await assert.rejects(transport.request({ method: "GET", path: "/" }), { code: "Unavailable" });
  await transport.close();
});
