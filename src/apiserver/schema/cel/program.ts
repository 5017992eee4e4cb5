import type { ASTNode, Environment, ParseResult } from "@marcbachmann/cel-js";

/** The longest rule that is looked at. */
const MAX_RULE_CHARS = 16 * 1024;

/** Everything below a node of a syntax tree that is itself a node. */
export function childrenOf(ast: ASTNode): ASTNode[] {
  const found: ASTNode[] = [];
  collect(ast.args, found);
  return found;
}

function collect(part: unknown, into: ASTNode[]): void {
  if (Array.isArray(part)) for (const item of part) collect(item, into);
  else if (isNode(part)) into.push(part);
}

function isNode(part: unknown): part is ASTNode {
  return typeof part === "object" && part !== null && "op" in part && "args" in part && "start" in part;
}

/** Calls `visit` for each node, parents first. */
export function walk(ast: ASTNode, visit: (node: ASTNode) => void): void {
  visit(ast);
  for (const child of childrenOf(ast)) walk(child, visit);
}

/**
 * Parses a rule for the given environment. Throws the library's `ParseError`.
 *
 * Two things are bent to Kubernetes' dialect: `has()` of a field of an indexed or called value, and `matches`, which
 * takes RE2 patterns.
 */
export function parseRule(environment: Environment, rule: string): ParseResult {
  if (rule.length > MAX_RULE_CHARS) throw new RangeError(`a rule may have at most ${MAX_RULE_CHARS} characters`);
  let source = rule;
  let program = environment.parse(source);
  for (let rounds = 0; rounds < 32; rounds++) {
    const has = findIndirectHas(program.ast);
    if (has === undefined) break;
    source = source.slice(0, has.start) + has.text + source.slice(has.end);
    program = environment.parse(source);
  }
  walk(program.ast, (node) => {
    if (node.op === "rcall" && node.args[0] === "matches") (node.args as unknown[])[0] = "matchesRe2";
  });
  return program;
}

/** `has(a[0].b)` is beyond the library; `a[0].?b.hasValue()` says the same. */
function findIndirectHas(ast: ASTNode): { start: number; end: number; text: string } | undefined {
  let found: { start: number; end: number; text: string } | undefined;
  walk(ast, (node) => {
    if (found || node.op !== "call" || node.args[0] !== "has") return;
    const field = node.args[1][0];
    if (field?.op !== ".") return;
    let root: ASTNode = field;
    while (root.op === ".") root = root.args[0];
    if (root.op === "id") return;
    const of = field.args[0];
    const text = `(${of.input.slice(of.range.start, of.range.end)}).?${field.args[1]}.hasValue()`;
    found = { start: node.range.start, end: node.range.end, text: `(${text})` };
  });
  return found;
}
