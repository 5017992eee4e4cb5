import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { type TestContext, test } from "node:test";
import { isFault } from "./fault.ts";
import { plain } from "./http.ts";
import { undiciHttp } from "./http-client.ts";
import { serveHttp } from "./http-server.ts";
import { fetchByEnvironment, proxyOfEnvironment } from "./proxy.ts";
import { selfSigned } from "./testing.ts";

const CLOUD = "cloud.example";

/** A proxy that reaches one server, whatever host is asked for, and notes what it was asked. */
async function proxyTo(t: TestContext, port: number): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const proxy = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.end("by the proxy");
  });
  proxy.on("connect", ({ url, headers }, socket) => {
    asked.push(`CONNECT ${url} ${headers["proxy-authorization"] ?? ""}`.trim());
    const onwards = connect(port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      onwards.pipe(socket).pipe(onwards);
    });
    for (const end of [socket, onwards]) end.on("error", () => {});
    socket.on("close", () => onwards.destroy());
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  t.after(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, asked };
}

/** The environment's proxies are these while a test runs. */
function setProxies(t: TestContext, values: Record<string, string>): void {
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"].flatMap((name) => [name, name.toLowerCase()]);
  const before = names.map((name) => [name, process.env[name]] as const);
  for (const name of names) delete process.env[name];
  Object.assign(process.env, values);
  t.after(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });
}

test("a cloud is reached through HTTPS_PROXY, its certificate checked as without one; what runs here and NO_PROXY are not", async (t) => {
  const { cert, key } = await selfSigned(CLOUD);
  const server = await serveHttp(async () => plain(200, "the cloud"), { tls: { cert, key } });
  t.after(() => server.close());
  const { port } = new URL(server.url);
  const proxy = await proxyTo(t, Number(port));
  setProxies(t, { HTTPS_PROXY: proxy.url.replace("//", "//user:word@"), NO_PROXY: ".inside.example" });

  const trusting = undiciHttp({ proxy: true, ca: cert });
  t.after(() => trusting.close());
  const answer = await trusting({ method: "GET", url: `https://${CLOUD}/machines` });
  assert.equal(answer.body, "the cloud");
  const basic = `Basic ${Buffer.from("user:word").toString("base64")}`;
  assert.deepEqual(proxy.asked.splice(0), [`CONNECT ${CLOUD}:443 ${basic}`]);

  const strict = undiciHttp({ proxy: true });
  t.after(() => strict.close());
  await assert.rejects(strict({ method: "GET", url: `https://${CLOUD}/` }), (error) => isFault(error));
  assert.equal(proxy.asked.splice(0).length, 1);

  await assert.rejects(trusting({ method: "GET", url: server.url }), /altnames|127\.0\.0\.1/, "asked directly");
  await assert.rejects(trusting({ method: "GET", url: "https://a.inside.example/" }));
  assert.deepEqual(proxy.asked, []);
});

test("images come through HTTP_PROXY, and from a server here without it", async (t) => {
  const server = await serveHttp(async () => plain(200, "from here"));
  t.after(() => server.close());
  const proxy = await proxyTo(t, 1);
  const way = fetchByEnvironment({ HTTP_PROXY: proxy.url });
  t.after(() => way.close());
  assert.equal(await (await way.fetch("http://images.example/a.raw")).text(), "by the proxy");
  assert.deepEqual(proxy.asked, ["GET http://images.example/a.raw"]);
  assert.equal(await (await way.fetch(server.url)).text(), "from here");
  assert.equal(proxy.asked.length, 1);
});

test("without a proxy nothing stands between; what is no URL of one is refused by its name", () => {
  assert.equal(proxyOfEnvironment({ NO_PROXY: "a" }), undefined);
  assert.equal(fetchByEnvironment({}).fetch, fetch);
  assert.throws(
    () => proxyOfEnvironment({ https_proxy: "proxy:port" }),
    (error) =>
      isFault(error, "Invalid") && /HTTPS_PROXY/.test(error.message) && /http:\/\/host:port/.test(error.remedy!),
  );
});
