// Starts the app whose folder is the first argument that is no switch, as Electron's own default app does.
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { app } from 'electron'

const folder = resolve(process.argv.slice(1).find(argument => !argument.startsWith('-')) ?? '.')
const {
  name,
  productName = name,
  version,
  desktopName,
  main = 'index.js',
} = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
Object.defineProperty(process, 'defaultApp', { value: true, enumerable: true })
app.name = productName
app.setVersion(version)
app.setDesktopName(desktopName ?? `${productName}.desktop`)
app.setPath('userData', join(app.getPath('appData'), productName))
app.setAppPath(folder)
await import(pathToFileURL(join(folder, main)).href)
