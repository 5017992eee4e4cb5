import { systemClock as clock } from "@slipway/base";
import { livesNamed } from "./lives.ts";
import { playNight } from "./night.ts";

const { FROM = "1", SEEDS = "10000", ONLY } = process.env;
const from = Number(FROM);
const failed = await playNight({
  from,
  count: Number(SEEDS) - from + 1,
  kinds: livesNamed(ONLY),
  now: () => clock.monotonic(),
  print: console.log,
});
for (const replay of failed) console.log(`failed: ${replay}`);
process.exitCode = failed.length === 0 ? 0 : 1;
