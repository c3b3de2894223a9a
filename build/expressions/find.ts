import { parse } from 'svelte/compiler'
import ts from 'typescript'

/** A regular expression in a source. */
export interface Expression {
  /** Counted from 1. */
  line: number
  /** Undefined where the expression is built at run time. */
  literal: { source: string; flags: string } | undefined
}

/** All regular expressions in a TypeScript or Svelte file. */
export function expressionsIn(file: string, text: string): Expression[] {
  return file.endsWith('.svelte') ? inSvelte(text) : inTypeScript(text)
}

function inTypeScript(text: string): Expression[] {
  const source = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, true)
  const found: Expression[] = []
  const add = (node: ts.Node, literal: Expression['literal']) => {
    found.push({ line: source.getLineAndCharacterOfPosition(node.getStart()).line + 1, literal })
  }
  const constants = constantTexts(source)
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/')
      add(node, { source: node.text.slice(1, end), flags: node.text.slice(end + 1) })
    }
    const making =
      (ts.isNewExpression(node) || ts.isCallExpression(node)) && isNamed(node.expression, 'RegExp')
    if (making) {
      const [pattern, flags] = (node.arguments ?? []).map(given => constants(given))
      const plain = node.arguments?.length === 1 || flags !== undefined
      add(node, pattern === undefined || !plain ? undefined : { source: pattern, flags: flags ?? '' })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

/** Gives the value of a constant text: a literal, or one composed of such constants of the same file. */
function constantTexts(source: ts.SourceFile): (node: ts.Node) => string | undefined {
  const named = new Map<string, ts.Node>()
  for (const statement of source.statements) {
    if (!ts.isVariableStatement(statement) || (statement.declarationList.flags & ts.NodeFlags.Const) === 0)
      continue
    for (const { name, initializer } of statement.declarationList.declarations)
      if (ts.isIdentifier(name) && initializer) named.set(name.text, initializer)
  }
  function textOf(node: ts.Node): string | undefined {
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text
    if (ts.isIdentifier(node)) {
      const value = named.get(node.text)
      return value && textOf(value)
    }
    if (!ts.isTaggedTemplateExpression(node) || node.tag.getText() !== 'String.raw') return undefined
    const { template } = node
    if (ts.isNoSubstitutionTemplateLiteral(template)) return template.rawText
    const pieces = template.templateSpans.flatMap(({ expression, literal }) => [
      textOf(expression),
      literal.rawText,
    ])
    return pieces.includes(undefined) ? undefined : [template.head.rawText, ...pieces].join('')
  }
  return textOf
}

function isNamed(node: ts.Node, name: string): boolean {
  return ts.isIdentifier(node) && node.text === name
}

/** Also reads a component's markup. Calls of `RegExp` always count as built at run time. */
function inSvelte(text: string): Expression[] {
  const found: Expression[] = []
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) for (const one of node) visit(one)
    if (!isNode(node)) return
    const line = text.slice(0, node.start).split('\n').length
    if (node.regex) found.push({ line, literal: { source: node.regex.pattern, flags: node.regex.flags } })
    const makes = node.type === 'NewExpression' || node.type === 'CallExpression'
    if (makes && isNode(node.callee) && node.callee.name === 'RegExp')
      found.push({ line, literal: undefined })
    for (const child of Object.values(node)) visit(child)
  }
  const { fragment, instance, module } = parse(text, { modern: true })
  visit([module?.content, instance?.content, fragment])
  return found
}

interface SvelteNode {
  type: string
  /** Absent for fragments. */
  start?: number
  name?: unknown
  callee?: unknown
  regex?: { pattern: string; flags: string }
}

function isNode(value: unknown): value is SvelteNode {
  return typeof value === 'object' && value !== null && 'type' in value
}
