/** What the preseed installation's mirror is made of, without Debian: lists, earlier versions, the proxy. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fitting, kernelsOf, type Mirror } from "./debian/fitting.ts";
import { openProxy } from "./debian/proxy.ts";
import { earlierVersions, pathOf, readUdebs, writeUdebs } from "./debian/udeb-list.ts";

const stanza = (name: string, version: string, more = ""): string =>
  `Package: ${name}\nVersion: ${version}\n${more}Filename: pool/main/${name}_${version.replace(/^\d+:/, "")}_amd64.udeb\n\n`;
const LIST = [
  stanza("kernel-image-6.1-di", "6.1-1", "Kernel-Version: 6.1\n"),
  stanza("kernel-image-6.2-di", "6.2-1", "Kernel-Version: 6.2\n"),
  stanza("ext4-modules-6.2-di", "6.2-1", "Kernel-Version: 6.2\n"),
  stanza("anna", "1.99", "Description: installs components\n continued\n"),
  stanza("busybox-udeb", "1:1.37.0-6+b9"),
  stanza("fdisk-udeb", "2.41.5-0+deb13u1", "Source: util-linux (2.41.5)\n"),
  stanza("lost-udeb", "3.0-1"),
].join("");

test("a list of components is read and written again as it was", () => {
  assert.equal(writeUdebs(readUdebs(LIST)), LIST);
});

test("earlier versions are earlier builds and updates, the last first", () => {
  const expected = {
    "1.37.0-6+b2": ["1.37.0-6+b1", "1.37.0-6"],
    "2.41-12+deb13u3": ["2.41-12+deb13u2", "2.41-12+deb13u1", "2.41-12"],
    "3.5.7-1~deb13u2": ["3.5.7-1~deb13u1"],
    "2.4.7-21+deb13u1+b1": ["2.4.7-21+deb13u1", "2.4.7-21"],
    "20250803+deb13u1": ["20250803"],
    "1.99": [],
  };
  for (const [version, earlier] of Object.entries(expected))
    assert.deepEqual(earlierVersions(version), earlier, version);
});

test("an installer is given its own kernel's modules, and for a file that is not there the version that it was built with, or an earlier one", async () => {
  const there = new Set([
    "kernel-image-6.2-di_6.2-1",
    "ext4-modules-6.2-di_6.2-1",
    "anna_1.99",
    "busybox-udeb_1.37.0-6+b7",
    "fdisk-udeb_2.41-5",
  ]);
  const mirror: Mirror = {
    isThere: async (path) => there.has(path.slice("pool/main/".length, -"_amd64.udeb".length)),
    fetched: async (path) => Buffer.from(path),
  };
  const list = readUdebs(LIST);
  assert.deepEqual(
    (await kernelsOf(list, mirror)).map(({ kernel }) => kernel),
    ["6.2"],
  );
  const control = async (udeb: Buffer): Promise<string> => {
    const [, name = "", version = ""] = /([^/_]+)_([^_]+)_/.exec(udeb.toString()) ?? [];
    return `Package: ${name}\nVersion: ${version}\nDepends: libc6-udeb\n`;
  };
  const built = { kernel: "6.2", sources: new Map([["util-linux", "2.41-5"]]) };
  const { udebs, earlier, missing } = await fitting(list, built, control, mirror);
  const names = (of: typeof udebs): string[] =>
    of.map(({ path }) => path.slice("pool/main/".length, -"_amd64.udeb".length));
  assert.deepEqual(new Set(names(udebs)), there);
  assert.deepEqual(names(earlier), ["busybox-udeb_1.37.0-6+b7", "fdisk-udeb_2.41-5"]);
  assert.deepEqual(names(missing), ["lost-udeb_3.0-1"]);
  const { path, fields } = earlier[0]!;
  assert.equal(path, pathOf(list[4]!, "1:1.37.0-6+b7"));
  assert.equal(fields.get("Depends"), "libc6-udeb");
  assert.equal(fields.get("Size"), String(path.length));
});

test("the proxy serves its own files in the mirror's place, passes on the rest, and reaches no other host", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "slipway-proxy-"));
  t.after(() => rm(folder, { recursive: true }));
  const mirror = createServer((from, to) =>
    to.writeHead(from.url === "/debian/gone" ? 404 : 200).end(`${from.method} ${from.url}`),
  );
  await new Promise<void>((resolve) => mirror.listen(0, "127.0.0.1", resolve));
  t.after(() => mirror.close());
  const { port } = mirror.address() as AddressInfo;
  const socketPath = join(folder, "proxy.sock");
  const own = new Map([["dists/own/Release", Buffer.from("own")]]);
  const proxy = await openProxy(socketPath, { host: "127.0.0.1", port, root: "/debian" }, own);
  t.after(() => proxy.close());
  const ask = (path: string, method = "GET"): Promise<string> =>
    new Promise((resolve, reject) => {
      const asked = request({ socketPath, path, method }, async (answer) => {
        let text = "";
        for await (const part of answer) text += part;
        resolve(`${answer.statusCode} ${text}`);
      });
      asked.once("error", reject).end();
    });
  const archive = `http://127.0.0.1:${port}/debian`;
  assert.equal(await ask(`${archive}/dists/own/Release`), "200 own");
  assert.equal(await ask(`${archive}/dists/own/Release`, "HEAD"), "200 ");
  assert.equal(await ask(`${archive}/dists/trixie/InRelease`), "200 GET /debian/dists/trixie/InRelease");
  assert.equal(await ask(`${archive}/gone`), "404 GET /debian/gone");
  assert.equal(await ask("http://example.com/debian/dists/own/Release"), "403 ");
  assert.equal(await ask("/debian/dists/own/Release"), "403 ");
  assert.equal(await ask(`${archive}/dists/trixie/InRelease`, "PUT"), "403 ");
});
