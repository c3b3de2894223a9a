import { existsSync, readFileSync } from 'node:fs'
import ts from 'typescript'

/** What is wrong with a piece of code that is named as `path#name`; undefined for nothing. */
export function codeMistake(entry: string): string | undefined {
  const [, path = '', name = ''] = /^`([^`#]+)#([^`]+)`$/.exec(entry) ?? []
  if (!existsSync(path)) return 'is no file'
  const source = readFileSync(path, 'utf8')
  const there = path.endsWith('.ts') ? namesIn(source).declared.has(name) : source.includes(name)
  return there ? undefined : 'is not in that file'
}

/** What is wrong with a test that is named as `path › title`, below test/; undefined for nothing. */
export function testMistake(entry: string): string | undefined {
  const [, path = '', name = ''] = /^`([^`]+)` › (.+)$/.exec(entry) ?? []
  if (!existsSync(`test/${path}`)) return 'is no file'
  return namesIn(readFileSync(`test/${path}`, 'utf8')).tests.has(name) ? undefined : 'is no test in that file'
}

/** Each entry with a mistake, and that. */
export const wrong = (entries: readonly string[], mistake: (entry: string) => string | undefined) =>
  entries.flatMap(entry => (mistake(entry) === undefined ? [] : [`${entry} ${mistake(entry)}`]))

/** What a source declares, and which tests it has. */
function namesIn(text: string): { declared: ReadonlySet<string>; tests: ReadonlySet<string> } {
  const declared = new Set<string>()
  const tests = new Set<string>()
  each(text, node => {
    const name = nameOf(node)
    if (name !== undefined) declared.add(name)
    const title = titleOf(node)
    if (title !== undefined) tests.add(title)
  })
  return { declared, tests }
}

/** Where the code begins that follows a comment which begins at `at`. */
export function tokenAfter(text: string, at: number): number {
  const blank = /(?:\s|\/\/[^\n]*\n|\/\*[\s\S]*?\*\/)*/y
  blank.lastIndex = at
  blank.exec(text)
  return blank.lastIndex
}

/** What begins at each place of a source: the name that is declared there, or the title of a test. */
export function namesByPlace(text: string): ReadonlyMap<number, { declared?: string; test?: string }> {
  const names = new Map<number, { declared?: string; test?: string }>()
  each(text, (node, source) => {
    const [declared, test] = [nameOf(node), titleOf(node)]
    if (declared === undefined && test === undefined) return
    const at = (ts.isVariableDeclaration(node) ? node.parent.parent : node).getStart(source)
    const before = names.get(at)
    names.set(at, {
      ...before,
      ...(declared !== undefined && before?.declared === undefined && { declared }),
      ...(test !== undefined && before?.test === undefined && { test }),
    })
  })
  return names
}

function each(text: string, visit: (node: ts.Node, source: ts.SourceFile) => void): void {
  const source = ts.createSourceFile('a.ts', text, ts.ScriptTarget.Latest, true)
  const into = (node: ts.Node): void => {
    visit(node, source)
    ts.forEachChild(node, into)
  }
  into(source)
}

/** Functions, constants, types, members and keys, wherever they are declared. */
function nameOf(node: ts.Node): string | undefined {
  if (!isDeclaration(node) || !node.name) return undefined
  if (ts.isIdentifier(node.name) || ts.isStringLiteral(node.name)) return node.name.text
  return ts.isPrivateIdentifier(node.name) ? node.name.text.slice(1) : undefined
}

function isDeclaration(node: ts.Node): node is ts.NamedDeclaration {
  return (
    ts.isFunctionDeclaration(node) ||
    ts.isVariableDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isClassElement(node) ||
    ts.isTypeElement(node) ||
    ts.isPropertyAssignment(node)
  )
}

/** The text that a test is named with. */
function titleOf(node: ts.Node): string | undefined {
  if (!ts.isCallExpression(node) || startOf(node) !== 'test') return undefined
  const [first] = node.arguments
  return first && ts.isStringLiteralLike(first) ? first.text : undefined
}

/** What a call begins with: `test` of `test.each([])('name', …)`. */
function startOf(node: ts.Expression): string | undefined {
  if (ts.isIdentifier(node)) return node.text
  if (ts.isCallExpression(node) || ts.isPropertyAccessExpression(node)) return startOf(node.expression)
  return undefined
}
