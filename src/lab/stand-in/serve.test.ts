/** The stand-in in a network of its own: what machines reach there, and that nothing of it stays. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { noNetwork, runInNetwork } from "../testing.ts";

const of = (name: string): string => JSON.stringify(import.meta.resolve(name));

const program = (dir: string): string => `
  import { createApiServer } from ${of("@slipway/apiserver")};
  import { cryptoRandom as random, quietLog as log, systemClock as clock } from ${of("@slipway/base")};
  import { undiciHttp } from ${of("@slipway/base/http-client")};
  import { createClient } from ${of("@slipway/kube")};
  import { ConfigMap } from ${of("@slipway/kube/core")};
  import { Bridge } from ${of("../bridge.ts")};
  import { LAB } from ${of("../rack.ts")};
  import { serveStandIn, VIP } from ${of("./serve.ts")};

  const bridge = await Bridge.create(LAB.bridge, LAB.address + "/" + LAB.prefix);
  const api = await createApiServer({ clock, random, log });
  const client = createClient(api.transport(), { clock, random, log });
  const dir = ${JSON.stringify(dir)};
  const serve = () => serveStandIn({ assets: dir, dir, joinToken: "join-me", client, clock, log });
  const isoUrl = "http://" + LAB.address + ":8091/stand-in/harvester-v1.8.1-amd64.iso";
  const offered = () => fetch(isoUrl, { method: "HEAD" }).then(({ status }) => status, () => "nobody answers");
  const own = () => show("address", "show", "dev", "lo")[0].addr_info.some(({ local }) => local === VIP);

  execFileSync("ip", ["address", "add", VIP + "/32", "dev", "lo"]);
  await serve().then(() => said("served"), () => said("refused"));
  said([await offered(), own()]);

  execFileSync("ip", ["address", "delete", VIP + "/32", "dev", "lo"]);
  const standIn = await serve();
  said([standIn.isoUrl === isoUrl, await offered(), own()]);
  const http = undiciHttp({ anyCertificate: true });
  const beat = JSON.stringify({ uuid: "1", token: "another" });
  said((await http({ method: "POST", url: "https://" + VIP + "/stand-in/beat", headers: {}, body: beat })).status);
  said((await client.get(ConfigMap, { name: "vip", namespace: "harvester-system" })).data.ip);
  await standIn.close();
  said([await offered(), own()]);
  await http.close();
  await api.close();
  await bridge.remove();
`;

test("machines get the release and the cluster at their addresses; nothing is left of what did not start or is closed", {
  skip: noNetwork(),
}, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "slipway-lab-"));
  t.after(() => rmSync(dir, { recursive: true }));
  for (const folder of ["agent/x86_64", "boot"]) mkdirSync(join(dir, folder), { recursive: true });
  const assets = [
    ...["vmlinuz", "initrd", "rest"].map((name) => `agent/x86_64/${name}`),
    "boot/shimx64.efi",
    "boot/grubx64.efi",
  ];
  for (const name of assets) writeFileSync(join(dir, name), name);
  const [taken, left, serves, stranger, vip, closed] = await runInNetwork(program(dir));
  // The address is foreign, and stays there.
  assert.deepEqual([taken, left], ["refused", ["nobody answers", true]]);
  assert.deepEqual([serves, stranger, vip], [[true, 200, true], 403, "10.77.0.2"]);
  assert.deepEqual(closed, ["nobody answers", false]);
});
