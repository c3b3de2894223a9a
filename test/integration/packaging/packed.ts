import '#test/built.ts'
import { builtinModules, createRequire } from 'node:module'
import { join } from 'node:path'
import { listPackage } from '@electron/asar'
import type AppImageTarget from 'app-builder-lib/out/targets/appimage/AppImageTarget.js'
import { generateAppRunScript } from 'app-builder-lib/out/targets/appimage/appImageUtil.js'
import type FpmTarget from 'app-builder-lib/out/targets/FpmTarget.js'
import { LinuxTargetHelper } from 'app-builder-lib/out/targets/LinuxTargetHelper.js'
import { Arch, build, type Configuration, LinuxPackager, Platform } from 'electron-builder'
import ts from 'typescript'
import { at } from '#build/places.ts'
import { writeMacStandIn, writeStandIn } from './stand-in.ts'

const require = createRequire(import.meta.url)
/** CommonJS modules whose default export Node does not unwrap. */
const targets = {
  AppImage: require('app-builder-lib/out/targets/appimage/AppImageTarget.js')
    .default as typeof AppImageTarget,
  Fpm: require('app-builder-lib/out/targets/FpmTarget.js').default as typeof FpmTarget,
}

export interface Packed {
  /** The folder as a user gets it. */
  folder: string
  asar: string
  /** Paths inside the asar, separated by `/`, without a leading one. */
  files: string[]
  linux?: LinuxPackages
}

/** The output of the Linux targets for the configuration, before their tools run. */
export interface LinuxPackages {
  /** The desktop entry for deb and rpm; `imageEntry` is the AppImage's. */
  desktopEntry: string
  imageEntry: string
  /** The AppImage's own start script. */
  appRun: string
  deb: FpmOptions
  rpm: FpmOptions
}
type FpmOptions = Awaited<ReturnType<FpmTarget['checkOptions']>>

const version = '45.0.0'

/** Packs dist/ for Linux by electron-builder.yml, with a stand-in for Electron. */
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

/** Packs dist/ for macOS and one processor; gives the app's folder. */
export async function packForMac(into: string, arch: Arch.x64 | Arch.arm64): Promise<string> {
  // Signing needs a Mac.
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
    // Merged into electron-builder.yml.
    config: {
      ...changes,
      electronDist,
      electronVersion: version,
      directories: { output: join(into, 'release') },
    },
  })
}

/** The paths in an app's archive. */
export function contents(resources: string): Pick<Packed, 'asar' | 'files'> {
  const asar = join(resources, 'app.asar')
  const files = listPackage(asar, { isPack: false }).map(path => path.replaceAll('\\', '/').slice(1))
  return { asar, files }
}

/** Taken from electron-builder's own targets. */
async function linuxPackages(packager: LinuxPackager, into: string): Promise<LinuxPackages> {
  const helper = new LinuxTargetHelper(packager)
  const fpm = (name: string) => new targets.Fpm(name, packager, helper, into).checkOptions()
  const { executableName, appInfo } = packager
  return {
    desktopEntry: await helper.computeDesktopEntry(packager.platformSpecificBuildOptions),
    // A private member, which has no public equivalent.
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
  /** Paths of files, relative to the root of the search. */
  files: Set<string>
  /** Names of packages. */
  packages: Set<string>
}

/** The files and packages a bundle imports at run time, transitively, without Node's modules. */
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

/** The names in imports, in the bundler's form of `require`, and of files that a thread or a window runs. */
function imported(text: string): string[] {
  const names: string[] = []
  const visit = (node: ts.Node): void => {
    const named =
      ts.isImportDeclaration(node) || ts.isExportDeclaration(node)
        ? node.moduleSpecifier
        : ts.isCallExpression(node) && loads(node.expression)
          ? node.arguments[0]
          : ts.isNewExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'URL'
            ? node.arguments?.[0]
            : undefined
    if (named && ts.isStringLiteralLike(named) && !/^https?:/.test(named.text)) names.push(named.text)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile('a.js', text, ts.ScriptTarget.Latest))
  return names
}

function loads(called: ts.Expression): boolean {
  if (called.kind === ts.SyntaxKind.ImportKeyword) return true
  return ts.isIdentifier(called) && /^(__)?require$/.test(called.text)
}
