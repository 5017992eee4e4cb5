import { copies } from "./copies.ts";
import { NEEDS as KINE } from "./servers/kine.ts";
import { mariadb, NEEDS } from "./servers/mariadb.ts";
import { skipWithout } from "./servers/programs.ts";

copies(mariadb, skipWithout([...NEEDS, ...KINE], "Debian's packages; make kube-assets NAMES=kine"));
