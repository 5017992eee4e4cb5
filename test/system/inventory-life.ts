/** The life of a host, from its declaration to its deletion, and what must hold all the while. */
import assert from "node:assert/strict";
import type { SimServer } from "../../src/sim/rack/server.ts";
import { IMAGE, type InventoryWorld, MINUTE } from "./inventory-world.ts";
import { PROFILES, profile } from "./profiles.ts";

export const OTHER_IMAGE = { ...IMAGE, url: "http://images.invalid/other.raw" } as const;

/** What was left on a server by whoever had it before. */
export const LEFT_OVER = { image: "left by somebody", data: {} };

const LONG = 6 * 60 * MINUTE;

/** Plays the life of a host that an installer installs, and is let go while it runs; `watch` is called every few seconds of it. */
export async function playInstallerLife(
  world: InventoryWorld,
  name: string,
  { bmc, watch }: { bmc: boolean; watch: () => Promise<void> },
): Promise<void> {
  const server = world.servers.get(name)!;
  const method = "preseed/system";
  await profile(world, "system", PROFILES.preseed);
  await world.declare(name, { bmc, customDeploy: { method } });
  if (!bmc) server.on();
  const state = async (): Promise<string | undefined> => {
    await watch();
    // Whoever is at the rack does what the host asks for.
    const status = (await world.host(name))?.status;
    const isAsked = !bmc && /^somebody to start/.test(status?.waitingFor ?? "");
    if (isAsked && !["firmware", "agent"].includes(server.running?.is ?? "")) server.restart();
    return status?.provisioning?.state;
  };
  await world.until(`${name} is provisioned`, async () => (await state()) === "provisioned", LONG);
  await world.until(`${name} runs it`, () => isRunning(server, "preseed"), LONG);
  await world.remove(name);
  await world.until(`${name} is gone`, async () => (await state()) === undefined && !(await world.host(name)), LONG);
}

/** Plays a host's whole life; `watch` is called every few seconds of it. Fails with what did not come about. */
export async function playLife(
  world: InventoryWorld,
  name: string,
  watch: () => Promise<void>,
  declared: { scheme?: string } = {},
): Promise<void> {
  const server = world.servers.get(name)!;
  const isIn = (state: string) => async () => {
    await watch();
    return (await world.host(name))?.status?.provisioning?.state === state;
  };
  await world.declare(name, declared);
  await world.until(`${name} is available`, isIn("available"), LONG);
  await world.change(name, { spec: { image: IMAGE } });
  await world.until(`${name} is provisioned`, isIn("provisioned"), LONG);
  const runs = (image: string) => async () => {
    await watch();
    return isRunning(server, image);
  };
  await world.until(`${name} runs it`, runs(IMAGE.url), LONG);
  await world.change(name, { spec: { image: OTHER_IMAGE } });
  await world.until(`${name} runs the other image`, runs(OTHER_IMAGE.url), LONG);
  await world.until(`${name} is provisioned again`, isIn("provisioned"), LONG);
  await world.remove(name);
  await world.until(
    `${name} is gone`,
    async () => {
      await watch();
      return (await world.host(name)) === undefined;
    },
    LONG,
  );
}

function isRunning({ running }: SimServer, image: string): boolean {
  return running?.is === "system" && running.image === image;
}

/** What holds at every moment: no host is offered that is not wiped, or on which somebody's system still runs. */
export async function checkRack(world: InventoryWorld): Promise<void> {
  for (const { metadata, status, spec } of await world.hosts()) {
    const isWanted = spec.image?.url !== undefined || spec.customDeploy !== undefined;
    if (status?.provisioning?.state !== "available" || isWanted) continue;
    const server = world.servers.get(metadata.name)!;
    const content = server.disks.map((disk) => disk.content).find((each) => each !== undefined);
    assert.equal(content, undefined, `${metadata.name} is available, and ${content?.image} is on its disk`);
    assert.notEqual(server.running?.is, "system", `${metadata.name} is available, and a system runs on it`);
  }
}
