import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { SimMachine } from "./sim-machine.ts";

const ID = "51b00000-0000-4000-8000-000000000001";

test("a machine starts from what it is set to, once or until that is changed, and loses its power", async () => {
  const clock = new VirtualClock();
  const lived: string[] = [];
  const machine = new SimMachine({
    ...{ clock, id: ID, name: "m", uuid: ID, macs: [] },
    onStart: ({ from, mode, media = "" }) => void lived.push(`${from} ${mode} ${media}`.trim()),
    onOff: () => void lived.push("off"),
  });
  const does = async (...types: Parameters<SimMachine["reset"]>): Promise<void> => {
    void machine.reset(...types);
    await clock.run(60_000);
  };
  await machine.setBoot({ enabled: "Once", target: "Pxe", mode: "UEFI" });
  await does("On");
  await does("On");
  await does("ForceRestart");
  await machine.setBoot({ enabled: "Continuous", target: "Cd", mode: "Legacy" });
  void machine.setMedia("http://boot.example/a.iso");
  await does("GracefulRestart");
  await does("GracefulShutdown");
  await does("ForceOff");
  assert.deepEqual(lived, [...["Pxe UEFI", "off", "None UEFI", "off", "Cd Legacy http://boot.example/a.iso", "off"]]);
  assert.deepEqual(machine.boot(), { enabled: "Continuous", target: "Cd", mode: "Legacy" });
});

test("an order takes the place of the one under way, which fails", async () => {
  const clock = new VirtualClock();
  const machine = new SimMachine({ clock, id: ID, name: "m", uuid: ID, macs: [] });
  const on = machine.reset("On").catch(String);
  const off = machine.reset("ForceOff");
  await clock.run(60_000);
  await off;
  assert.match(String(await on), /another order came/);
  assert.deepEqual([machine.power(), machine.starts], ["Off", []]);
  void machine.reset("On").catch(() => {});
  machine.close();
  await clock.run(60_000);
  assert.equal(machine.power(), "PoweringOn");
});
