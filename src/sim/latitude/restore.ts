import { checkedSnapshot, unusable } from "../snapshot-check.ts";
import { Snapshot } from "./snapshot.ts";
import { reachable, type SimServer, type World } from "./world.ts";

/**
 * Fills a new world with what a snapshot holds; nothing has power yet. Each disk is handed back to the firmware.
 * Throws a `Fault` (`Invalid`) for a snapshot of another version, a damaged one, or one that speaks of what it does not hold.
 */
export function restore(world: World, value: unknown, from: string | undefined): void {
  const source = { on: "simulated Latitude.sh", from };
  const saved = checkedSnapshot(Snapshot, value, source);

  world.token = saved.token;
  world.racked = saved.racked;
  world.nextVid = saved.nextVid;
  world.stock.clear();
  for (const [place, left] of Object.entries(saved.stock)) world.stock.set(place, left);
  for (const one of saved.userData) world.userData.set(one.id, one);
  for (const one of saved.networks) world.networks.set(one.id, one);
  world.purchases.push(...saved.purchases);
  for (const { disk, ...lasting } of saved.servers) {
    const server: SimServer = {
      ...lasting,
      hardware: { ...lasting.hardware, reachable },
      userData: lasting.userData,
      runs: lasting.runs,
      acting: lasting.acting,
      progress: lasting.progress,
      powered: undefined,
    };
    world.servers.set(server.id, server);
    if (disk !== undefined) world.firmware.recall?.(server.hardware, disk);
  }
  for (const one of saved.assignments) {
    if (!world.servers.has(one.server)) throw unusable(source, `server ${one.server} is named and not there`);
    if (!world.networks.has(one.network)) throw unusable(source, `network ${one.network} is named and not there`);
    world.assignments.set(one.id, one);
  }
}
