import { Environment } from "@marcbachmann/cel-js";
import { registerFormats } from "./library/formats.ts";
import { registerLists } from "./library/lists.ts";
import { registerNetwork } from "./library/network.ts";
import { registerQuantities } from "./library/quantity.ts";
import { registerStrings } from "./library/strings.ts";
import { registerUrls } from "./library/urls.ts";

/** CEL with the functions that Kubernetes adds; no variables yet. */
function libraries(): Environment {
  const environment = new Environment({
    enableOptionalTypes: true,
    homogeneousAggregateLiterals: false,
    limits: { maxAstNodes: 10_000, maxDepth: 100 },
  });
  registerStrings(environment);
  registerLists(environment);
  registerUrls(environment);
  registerNetwork(environment);
  registerQuantities(environment);
  registerFormats(environment);
  return environment;
}

const base = libraries();

/** Where rules run: `self` and `oldSelf` are whatever they are given. */
export const runtime: Environment = base.clone().registerVariable("self", "dyn").registerVariable("oldSelf", "dyn");

/** Where the types of one schema are declared, to check rules against. */
export function typing(): Environment {
  return base.clone();
}
