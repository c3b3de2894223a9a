import { builtinModules, createRequire } from 'node:module'
import { join } from 'node:path'
import { listPackage } from '@electron/asar'
import type AppImageTarget from 'app-builder-lib/out/targets/appimage/AppImageTarget.js'
import { generateAppRunScript } from 'app-builder-lib/out/targets/appimage/appImageUtil.js'
import type FpmTarget from 'app-builder-lib/out/targets/FpmTarget.js'
import { LinuxTargetHelper } from 'app-builder-lib/out/targets/LinuxTargetHelper.js'
import { Arch, build, type Configuration, LinuxPackager, Platform } from 'electron-builder'
import ts from 'typescript'
import { at } from '../../../build/places.ts'
import { writeMacStandIn, writeStandIn } from './stand-in.ts'

const require = createRequire(import.meta.url)
/** CommonJS, whose default export Node does not take for its own. */
const targets = {
  AppImage: require('app-builder-lib/out/targets/appimage/AppImageTarget.js')
    .default as typeof AppImageTarget,
  Fpm: require('app-builder-lib/out/targets/FpmTarget.js').default as typeof FpmTarget,
}

export interface Packed {
  /** The folder that a user would have. */
  folder: string
  asar: string
  /** Paths inside the asar, with `/` between and none in front. */
  files: string[]
  linux?: LinuxPackages
}

/** What the targets for Linux make of the configuration, before their tools run. */
export interface LinuxPackages {
  /** The desktop entry that goes into deb and rpm, and that of the AppImage. */
  desktopEntry: string
  imageEntry: string
  /** The AppImage's own start script. */
  appRun: string
  deb: FpmOptions
  rpm: FpmOptions
}
type FpmOptions = Awaited<ReturnType<FpmTarget['checkOptions']>>

const version = '45.0.0'

/** Packs what is in dist/ as electron-builder.yml says, for Linux, around a stand-in for Electron. */
export async function pack(into: string, changes: Configuration = {}): Promise<Packed> {
  let linux: LinuxPackages | undefined
  await packFor(Platform.LINUX, Arch[process.arch as 'x64'], into, {
    ...changes,
    async afterPack({ packager }) {
      if (!(packager instanceof LinuxPackager)) throw new Error('not for Linux')
      linux = await linuxPackages(packager, into)
    },
  })
  const name = process.arch === 'x64' ? 'linux-unpacked' : `linux-${process.arch}-unpacked`
  const folder = join(into, 'release', name)
  return { folder, ...(linux && { linux }), ...contents(join(folder, 'resources')) }
}

/** The same for macOS and one processor; gives the app's folder. */
export async function packForMac(into: string, arch: Arch.x64 | Arch.arm64): Promise<string> {
  // Signing takes a Mac.
  await packFor(Platform.MAC, arch, into, { electronFuses: { resetAdHocDarwinSignature: false } })
  return join(into, 'release', arch === Arch.x64 ? 'mac' : 'mac-arm64', 'Berth.app')
}

async function packFor(platform: Platform, arch: Arch, into: string, changes: Configuration): Promise<void> {
  const electronDist = join(into, `electron-${platform.name}-${arch}`)
  await (platform === Platform.MAC ? writeMacStandIn : writeStandIn)(electronDist, version)
  await build({
    projectDir: at('.'),
    targets: platform.createTarget('dir', arch),
    publish: 'never',
    // Beside what electron-builder.yml says.
    config: {
      ...changes,
      electronDist,
      electronVersion: version,
      directories: { output: join(into, 'release') },
    },
  })
}

/** What is in an app's archive. */
export function contents(resources: string): Pick<Packed, 'asar' | 'files'> {
  const asar = join(resources, 'app.asar')
  const files = listPackage(asar, { isPack: false }).map(path => path.replaceAll('\\', '/').slice(1))
  return { asar, files }
}

/** Asked of electron-builder's own targets. */
async function linuxPackages(packager: LinuxPackager, into: string): Promise<LinuxPackages> {
  const helper = new LinuxTargetHelper(packager)
  const fpm = (name: string) => new targets.Fpm(name, packager, helper, into).checkOptions()
  const { executableName, appInfo } = packager
  return {
    desktopEntry: await helper.computeDesktopEntry(packager.platformSpecificBuildOptions),
    // Private there, and the only place that knows.
    imageEntry: await new targets.AppImage('', packager, helper, into)['desktopEntry'].value,
    appRun: generateAppRunScript({
      DesktopFileName: `${executableName}.desktop`,
      ExecutableName: executableName,
      ProductName: appInfo.productName,
      ProductFilename: appInfo.productFilename,
      ResourceName: `appimagekit-${executableName}`,
    }),
    deb: await fpm('deb'),
    rpm: await fpm('rpm'),
  }
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
