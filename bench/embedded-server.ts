/** The embedded API alone in a process: `servers.ts` starts it, sends its certificate and is told its URL. Argument: file of its journal, or empty. */
import { createApiServer } from "../src/apiserver/server.ts";
import { systemClock as clock } from "../src/base/clock.ts";
import { quietLog as log } from "../src/base/log.ts";
import { cryptoRandom as random } from "../src/base/random.ts";
import type { LaptopIdentity } from "../src/cli/laptop-identity.ts";

const file = process.argv[2] ?? "";
process.once("message", async (tls: LaptopIdentity["serving"]) => {
  const api = await createApiServer({ clock, random, log, ...(file !== "" && { storage: { file } }) });
  const { url } = await api.listen({ tls });
  process.send!(url);
});
process.once("disconnect", () => process.exit());
