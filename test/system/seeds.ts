import { runSeeds } from "./fault-seed.ts";
import { livesNamed } from "./lives.ts";

const { FROM = "1", SEEDS = "1000", ONLY } = process.env;
for (const [name, { life, shows }] of livesNamed(ONLY)) {
  await runSeeds(Number(FROM), Number(SEEDS), { life, of: name });
  console.log(`${SEEDS} seeds from ${FROM}: ${shows}`);
}
