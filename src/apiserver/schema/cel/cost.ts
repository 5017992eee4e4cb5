import type { ASTNode } from "@marcbachmann/cel-js";
import type { Node } from "../node.ts";
import { escapeField } from "./names.ts";
import { childrenOf } from "./program.ts";

/** Calls that run their last arguments once for each element of what they are called on. */
const LOOPS = new Set(["all", "exists", "exists_one", "map", "filter", "sortBy"]);

/**
 * The estimate above which a rule is refused, and the size of the largest request. kube-apiserver's limit is 10 million
 * units of work; here every node of the syntax tree counts, which is about ten times as many.
 */
const MAX_RULE_COST = 100_000_000;
const MAX_REQUEST_BYTES = 3 * 1024 * 1024;

/** Size of a rule and how deep its loops are nested: `nodes * longest ** depth` bounds the steps it takes. */
export function loopDepth(ast: ASTNode): { nodes: number; depth: number } {
  let nodes = 1;
  let depth = 0;
  for (const child of childrenOf(ast)) {
    const below = loopDepth(child);
    nodes += below.nodes;
    depth = Math.max(depth, below.depth);
  }
  return { nodes, depth: isLoop(ast) ? depth + 1 : depth };
}

function isLoop(ast: ASTNode): boolean {
  return ast.op === "rcall" && LOOPS.has(ast.args[0]) && ast.args[2].length > 1;
}

/** By how much a rule can exceed what kube-apiserver lets it cost; at most 1 when it can't. `copies`: how many values of its node one object may hold. */
export function excess(ast: ASTNode, self: Node, copies: number): number {
  const scope = new Map<string, Node | undefined>([
    ["self", self],
    ["oldSelf", self],
  ]);
  return (cost(ast, scope) * copies) / MAX_RULE_COST;
}

function cost(ast: ASTNode, scope: ReadonlyMap<string, Node | undefined>): number {
  if (ast.op === "rcall" && isLoop(ast)) {
    const [, receiver, [variable, ...bodies]] = ast.args;
    const range = nodeOfExpression(receiver, scope);
    const inner = new Map(scope);
    if (variable?.op === "id") inner.set(variable.args, range?.items);
    const body = bodies.reduce((sum, b) => sum + cost(b, inner), 1);
    return cost(receiver, scope) + elements(receiver, range) * body;
  }
  return childrenOf(ast).reduce((sum, child) => sum + cost(child, scope), 1);
}

/** The schema of a plain path (`self.a.b`, `x.c`), where the expression is one. */
function nodeOfExpression(ast: ASTNode, scope: ReadonlyMap<string, Node | undefined>): Node | undefined {
  if (ast.op === "id") return scope.get(ast.args);
  if (ast.op !== ".") return undefined;
  const parent = nodeOfExpression(ast.args[0], scope);
  for (const [name, child] of parent?.properties ?? []) if (escapeField(name) === ast.args[1]) return child;
  return undefined;
}

function elements(ast: ASTNode, range: Node | undefined): number {
  if (ast.op === "list" || ast.op === "map") return ast.args.length;
  return range === undefined ? 100 : copiesBelow(range);
}

/** How many elements a list or map can have at most. */
export function copiesBelow(node: Node): number {
  const { maxItems, maxProperties } = node.schema;
  if (node.items) return maxItems ?? MAX_REQUEST_BYTES / (smallest(node.items) + 1);
  if (typeof node.additional === "object") return maxProperties ?? MAX_REQUEST_BYTES / (smallest(node.additional) + 4);
  return 1;
}

/** Bytes of the shortest JSON that the schema allows. */
function smallest(node: Node): number {
  switch (node.schema.type) {
    case "string":
      return 2 + (node.schema.minLength ?? 0);
    case "boolean":
      return 4;
    case "object":
      return node.required.reduce((sum, name) => {
        const child = node.properties.get(name);
        return sum + name.length + 4 + (child ? smallest(child) : 2);
      }, 2);
    case "array":
      return 2;
    default:
      return 1;
  }
}
