import { existsSync, readFileSync } from 'node:fs'
import ts from 'typescript'

/** A line of the tables in docs/interface.md: entries by column, as they are written there. */
export interface Line {
  section: string
  what: string
  client: string[]
  simulator: string[]
  page: string[]
  test: string[]
}

/** Where the paths of each column begin. */
const folders: Readonly<Record<string, string>> = {
  client: 'electron/',
  simulator: 'simulator/',
  page: 'renderer/',
  test: 'test/',
}

/** All lines of all tables. @throws Error for a line that has not five cells */
export function readLines(markdown: string): Line[] {
  let section = ''
  return markdown.split('\n').flatMap(line => {
    section = /^#+ (.*)$/.exec(line)?.[1] ?? section
    if (!line.startsWith('| ') || line === '| What | Client | Simulator | Page | Test |') return []
    const cells = line.slice(2, -2).split(' | ')
    const [what = '', ...rest] = cells
    const [client = [], simulator = [], page = [], test = []] = rest.map(cell => cell.split('<br>'))
    if (cells.length !== 5 || !line.endsWith(' |')) throw new Error(`Not five cells: ${line}`)
    return [{ section, what, client, simulator, page, test }]
  })
}

/** The text of a file named in a column; undefined when there is no such file. */
export function textOf(column: string, file: string): string | undefined {
  const path = `${folders[column]}${file}`
  return file !== '' && existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

export interface Names {
  /** Functions, constants, types, members and keys, wherever they are declared. */
  declared: ReadonlySet<string>
  /** Tests, by the text that they are named with. */
  tests: ReadonlySet<string>
}

/** What a source declares, and which tests it has. */
export function namesIn(text: string): Names {
  const declared = new Set<string>()
  const tests = new Set<string>()
  const visit = (node: ts.Node): void => {
    const name = isDeclaration(node) ? node.name : undefined
    if (name && (ts.isIdentifier(name) || ts.isStringLiteral(name))) declared.add(name.text)
    if (name && ts.isPrivateIdentifier(name)) declared.add(name.text.slice(1))
    if (ts.isCallExpression(node) && startOf(node) === 'test') {
      const [first] = node.arguments
      if (first && ts.isStringLiteralLike(first)) tests.add(first.text)
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile('a.ts', text, ts.ScriptTarget.Latest))
  return { declared, tests }
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

/** What a call begins with: `test` of `test.each([])('name', …)`. */
function startOf(node: ts.Expression): string | undefined {
  if (ts.isIdentifier(node)) return node.text
  if (ts.isCallExpression(node) || ts.isPropertyAccessExpression(node)) return startOf(node.expression)
  return undefined
}
