import type { Hosts } from "../hosts/hosts.ts";
import type { Capabilities } from "./boot-capability.ts";

/**
 * Which host a request is of, by what only that host can know: the agent's token, the boot's capability, or the capability in the path of a
 * private file or of an installer's report. It says who is counted, and whose body is read; whether the request is answered others decide.
 */
export function hostOf({
  hosts,
  capabilities,
}: {
  hosts: Pick<Hosts, "byToken" | "get">;
  capabilities: Pick<Capabilities, "check">;
}): (request: { path: string; authorization: string }) => string | undefined {
  return ({ path, authorization }) => {
    const [, token] = /^Bearer +(\S{1,512})$/i.exec(authorization) ?? [];
    const [, kind, capability, id] = /^\/(private|install)\/([\w-]{1,512})\/([\w-]{1,64})\//.exec(path) ?? [];
    const granted =
      token !== undefined
        ? capabilities.check(token, "agent")
        : capability !== undefined
          ? capabilities.check(capability, `${kind}:${id}`)
          : undefined;
    if (granted !== undefined) return hosts.get(granted.mac)?.name ?? granted.mac;
    return token === undefined ? undefined : hosts.byToken(token)?.name;
  };
}
