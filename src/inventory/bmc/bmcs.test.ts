import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault, json } from "@slipway/base";
import { serveHttp } from "@slipway/base/http-server";
import { selfSigned } from "@slipway/base/testing";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { Bmcs } from "./bmcs.ts";
import type { BmcTarget, BmcTrust } from "./target.ts";
import { running } from "./testing.ts";

const credentials = { username: "admin", password: "secret" };
const machine = { "@odata.type": "#ComputerSystem.v1_0_0.ComputerSystem", PowerState: "On" };

function stage(places?: number) {
  const clock = new VirtualClock();
  const made: { trust: BmcTrust; open: boolean; requests: number }[] = [];
  const programs: string[][] = [];
  const load = { now: 0, most: 0 };
  const http = (trust: BmcTrust) => {
    const one = { trust, open: true, requests: 0 };
    made.push(one);
    const send = async () => {
      one.requests++;
      load.most = Math.max(load.most, ++load.now);
      await clock.sleep(100);
      load.now--;
      return json(200, machine);
    };
    return Object.assign(send, {
      close: async () => {
        one.open = false;
      },
    });
  };
  const run = async ({ program, args }: { program: string; args: readonly string[] }) => {
    programs.push([program, ...args]);
    return { code: 0, stdout: "Chassis Power is on", stderr: "" };
  };
  const bmcs = new Bmcs({ clock, http, run, ...(places !== undefined && { places }) });
  const open = (path: string, more: Partial<BmcTarget> = {}) =>
    bmcs.open({ address: `redfish://bmc/redfish/v1/Systems/${path}`, credentials, ...more });
  return { clock, made, programs, load, bmcs, open, wait: running(clock) };
}

test("machines behind one BMC share what leads there while address, credentials and trust are the same", async () => {
  const { made, open, wait, bmcs } = stage();
  const [one, two] = [open("1"), open("2")];
  assert.equal(made.length, 1);
  for (const other of [
    { credentials: { ...credentials, username: "op" } },
    { credentials: { ...credentials, password: "other" } },
    { trust: { ca: "PEM" } },
    { trust: { anyCertificate: true } },
    { address: "redfish://other/redfish/v1/Systems/1" },
    { address: "redfish+http://bmc/redfish/v1/Systems/1" },
  ])
    open("1", other);
  assert.equal(made.length, 7);
  assert.deepEqual(made[3]!.trust, { ca: "PEM" });
  await wait(one.close());
  await wait(one.close());
  assert.equal(made[0]!.open, true, "another machine uses it, however often the first is closed");
  assert.equal(await wait(two.readPower()), "on");
  await wait(two.close());
  assert.equal(made[0]!.open, false);
  open("1");
  assert.equal(made.length, 8);
  assert.ok(bmcs);
});

test("a BMC gets two requests at one time, or as many as is said", async () => {
  for (const [places, most] of [
    [undefined, 2],
    [3, 3],
  ] as const) {
    const { open, wait, load } = stage(places);
    await wait(Promise.all(["1", "2", "3", "4"].map((each) => open(each).readPower())));
    assert.equal(load.most, most);
  }
});

test("an address of IPMI is served by ipmitool, and an empty user name is refused for each", async () => {
  const { bmcs, programs, wait } = stage();
  const bmc = bmcs.open({ address: "ipmi://10.0.0.9:6230", credentials });
  assert.equal(await wait(bmc.readPower()), "on");
  assert.deepEqual(programs[0]!.slice(0, 7), ["ipmitool", "-I", "lanplus", "-H", "10.0.0.9", "-p", "6230"]);
  for (const address of ["ipmi://10.0.0.9", "redfish://bmc"])
    assert.throws(
      () => bmcs.open({ address, credentials: { username: "", password: "x" } }),
      (error) => isFault(error, "BadCredentials") && /user name is empty; put username and password/.test(error.advice),
    );
  assert.throws(
    () => bmcs.open({ address: "", credentials }),
    (error) => isFault(error, "Invalid"),
  );
});

test("over sockets a BMC's certificate is one that is trusted, of the authority that was given, or any where that is said", async (t) => {
  const tls = await selfSigned("127.0.0.1");
  const server = await serveHttp(async () => json(200, machine), { tls });
  t.after(() => server.close());
  const address = `${server.url.replace("https", "redfish")}/redfish/v1/Systems/1`;
  const read = async (trust: BmcTrust): Promise<string> => {
    const bmc = new Bmcs().open({ address, credentials, trust });
    try {
      return await bmc.readPower();
    } catch (error) {
      return isFault(error) ? error.code : String(error);
    } finally {
      await bmc.close();
    }
  };
  assert.equal(await read({}), "UntrustedCertificate");
  assert.equal(await read({ anyCertificate: false }), "UntrustedCertificate");
  assert.equal(await read({ anyCertificate: true }), "on");
  assert.equal(await read({ ca: tls.cert }), "on");
});
