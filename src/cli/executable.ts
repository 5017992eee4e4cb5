/**
 * What Node's single executable application starts (tools/packages): the bundle's modules come from the executable's assets, from memory.
 * Becomes a script without imports of its own, since such an application may `require` Node's modules alone.
 */
import { registerHooks } from "node:module";
import { getAsset } from "node:sea";
import { pathToFileURL } from "node:url";
import { SHIPPED_HOME } from "@slipway/base/shipped";

const HOME = `${pathToFileURL(SHIPPED_HOME).href}/`;

registerHooks({
  resolve(specifier, context, next) {
    const isPath = specifier.startsWith(".") || specifier.startsWith(HOME);
    const url = isPath ? URL.parse(specifier, context.parentURL)?.href : undefined;
    return url?.startsWith(HOME) ? { url, format: "module", shortCircuit: true } : next(specifier, context);
  },
  load(url, context, next) {
    if (!url.startsWith(HOME)) return next(url, context);
    return { format: "module", source: getAsset(url.slice(HOME.length), "utf8"), shortCircuit: true };
  },
});
void import(`${HOME}slipway.mjs`);
