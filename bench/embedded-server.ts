/** The embedded API alone in a process: `servers.ts` starts it, sends its certificate, and gets its URL. Argument: file of its journal, or empty. */
import { createApiServer } from "@slipway/apiserver";
import { systemClock as clock, quietLog as log, cryptoRandom as random, saveMemoryAtRest } from "@slipway/base";
import type { LaptopIdentity } from "../src/laptop/identity.ts";

saveMemoryAtRest(clock);
const file = process.argv[2] ?? "";
process.once("message", async (tls: LaptopIdentity["serving"]) => {
  const api = await createApiServer({ clock, random, log, ...(file !== "" && { storage: { file } }) });
  const { url } = await api.listen({ tls });
  process.send!(url);
});
process.once("disconnect", () => process.exit());
