import { readFile } from 'node:fs/promises'
import { builtinModules } from 'node:module'
import { join } from 'node:path'
import { listPackage } from '@electron/asar'
import { LinuxTargetHelper } from 'app-builder-lib/out/targets/LinuxTargetHelper.js'
import { build, type Configuration, LinuxPackager, Platform } from 'electron-builder'
import ts from 'typescript'
import { parse } from 'yaml'
import { at } from '../../../build/places.ts'
import { writeStandIn } from './stand-in.ts'

export interface Packed {
  /** The folder that a user would have. */
  folder: string
  asar: string
  /** Paths inside the asar, with `/` between and none in front. */
  files: string[]
  /** The desktop entry that goes into AppImage, deb and rpm. */
  desktopEntry: string
}

/** Packs what is in dist/ as electron-builder.yml says, for Linux, around a stand-in for Electron. */
export async function pack(into: string, changes: Configuration = {}): Promise<Packed> {
  const electronDist = join(into, 'electron')
  await writeStandIn(electronDist, '45.0.0')
  const config: Configuration = parse(await readFile(at('electron-builder.yml'), 'utf8'))
  let desktopEntry = ''
  await build({
    projectDir: at('.'),
    targets: Platform.LINUX.createTarget('dir'),
    publish: 'never',
    config: {
      ...config,
      ...changes,
      electronDist,
      electronVersion: '45.0.0',
      directories: { ...config.directories, output: join(into, 'release') },
      async afterPack({ packager }) {
        if (!(packager instanceof LinuxPackager)) throw new Error('not for Linux')
        const options = packager.platformSpecificBuildOptions
        desktopEntry = await new LinuxTargetHelper(packager).computeDesktopEntry(options)
      },
    },
  })
  const folder = join(
    into,
    'release',
    process.arch === 'x64' ? 'linux-unpacked' : `linux-${process.arch}-unpacked`,
  )
  const asar = join(folder, 'resources/app.asar')
  const files = listPackage(asar, { isPack: false }).map(path => path.replaceAll('\\', '/').slice(1))
  return { folder, asar, files, desktopEntry }
}

export interface Reached {
  /** Files, by their path from where the search began. */
  files: Set<string>
  /** Packages, by name. */
  packages: Set<string>
}

/** What a bundle imports at run time, and what that imports: files of its own, and packages but Node's. */
export async function reach(read: (path: string) => Promise<string>, entry: string): Promise<Reached> {
  const files = new Set<string>()
  const packages = new Set<string>()
  const waiting = [entry]
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (files.has(path)) continue
    files.add(path)
    for (const name of imported(await read(path))) {
      if (name.startsWith('.')) waiting.push(new URL(name, `file:///${path}`).pathname.slice(1))
      else if (!name.startsWith('node:') && !builtinModules.includes(name)) packages.add(name)
    }
  }
  return { files, packages }
}

/** The names in imports, and in what the bundler made of a CommonJS package's `require`. */
function imported(text: string): string[] {
  const names: string[] = []
  const visit = (node: ts.Node): void => {
    const named =
      ts.isImportDeclaration(node) || ts.isExportDeclaration(node)
        ? node.moduleSpecifier
        : ts.isCallExpression(node) && loads(node.expression)
          ? node.arguments[0]
          : undefined
    if (named && ts.isStringLiteralLike(named)) names.push(named.text)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile('a.js', text, ts.ScriptTarget.Latest))
  return names
}

function loads(called: ts.Expression): boolean {
  if (called.kind === ts.SyntaxKind.ImportKeyword) return true
  return ts.isIdentifier(called) && /^(__)?require$/.test(called.text)
}
