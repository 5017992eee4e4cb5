import assert from "node:assert/strict";
import { test } from "node:test";
import { documentFile, openContract } from "../contract/openapi-checker.ts";
import { OPERATING_SYSTEMS, PLANS, SITES } from "./catalog.ts";
import { type Exchange, order, rig } from "./rig.ts";

const { file, skip } = documentFile("latitude.yaml");

test("all that the driver sends, and all that the simulation answers, is as Latitude's document has it", {
  skip,
}, async () => {
  const contract = openContract(file);
  const sent = await everything();
  const problems = sent.flatMap(({ request, answer }) => [
    ...contract.request(request),
    ...contract.answer(request, answer),
  ]);

  assert.deepEqual([...new Set(problems)], []);
  const operations = new Set(
    sent.map(({ request }) => `${request.method} ${new URL(request.url).pathname.replace(/_?[A-Za-z]+_\w{13}/, "")}`),
  );
  assert.ok(operations.size >= 15, [...operations].join(", "));
});

test("every site, plan and operating system of the simulation can be ordered by the document", { skip }, () => {
  const contract = openContract(file);
  const problems = (attributes: object) =>
    contract.request({
      method: "POST",
      url: "https://latitude.test/servers",
      body: JSON.stringify({ data: { type: "servers", attributes } }),
    });

  for (const site of SITES) assert.deepEqual(problems({ site }), []);
  for (const plan of PLANS) assert.deepEqual(problems({ plan }), []);
  for (const operating_system of OPERATING_SYSTEMS) assert.deepEqual(problems({ operating_system }), []);
  assert.match(problems({ site: "NOWHERE" })[0] ?? "", /not in the enum/);
});

/** A life of machines that takes every call the driver has. */
async function everything(): Promise<readonly Exchange[]> {
  const { driver, sim, sent, until, restarted, clock } = rig({ account: { project: "Simulated Iron" } });
  const network = sim.addNetwork("DAL");
  const bought = await driver.create(order({ billingCycle: "monthly", userSshKeys: ["ssh_1"] }));
  const machine = await until(bought.id, "running");
  const wired = await driver.setNetwork(machine, {
    mode: "hybrid",
    vlans: [{ port: "eth1", vlans: [String(network.vid)] }],
  });
  await driver.setNetwork(wired, { mode: "layer3", vlans: [] });
  await driver.configure(bought.id, { scriptUrl: "https://boot.test/b", userData: "b" });
  for (const action of ["off", "on", "cycle"] as const) {
    await driver.power(bought.id, action);
    await clock.run(60_000);
  }
  await driver.reinstall(bought.id, { scriptUrl: "https://boot.test/c", userData: "c" });
  await restarted().find(order().claim);
  await driver.list();
  await driver.priceOf?.({ plan: "c3.small.x86", metro: "dal" });
  await driver.release(bought.id, { force: false });
  await assert.rejects(driver.create(order({ placement: { plan: "none", metro: "DAL" } })));
  sim.close();
  // The failed order on purpose is no example of what the driver sends.
  return sent.filter(({ answer }) => answer.status < 400);
}
