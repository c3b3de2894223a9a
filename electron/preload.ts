import { contextBridge, ipcRenderer, webUtils } from 'electron'
import type { Bridge, MainMessage } from './contract/messages.ts'
import { channel, dropChannel, themeArgument } from './desktop/channel.ts'

let listener: (message: MainMessage) => void = () => undefined
ipcRenderer.on(channel, (_event, message: MainMessage) => listener(message))

const bridge: Bridge = {
  post: message => ipcRenderer.send(channel, message),
  listen(newListener) {
    listener = newListener
  },
}

contextBridge.exposeInMainWorld('berth', bridge)

// The page knows the settings only once Berth has started.
const theme = process.argv.find(each => each.startsWith(themeArgument))?.slice(themeArgument.length)
if (theme) addEventListener('DOMContentLoaded', () => (document.documentElement.style.colorScheme = theme))

// A dropped folder's path bypasses the page, which may name no path, and only for real drops that the page did not
// handle.
const isOffered = (event: DragEvent): event is DragEvent & { dataTransfer: DataTransfer } =>
  event.isTrusted && !event.defaultPrevented && event.dataTransfer?.types.includes('Files') === true

addEventListener('dragover', event => {
  if (!isOffered(event)) return
  event.preventDefault()
  event.dataTransfer.dropEffect = 'copy'
})
addEventListener('drop', event => {
  if (!isOffered(event)) return
  event.preventDefault()
  const [item] = event.dataTransfer.items
  const file = item?.webkitGetAsEntry()?.isDirectory ? item.getAsFile() : undefined
  if (file) ipcRenderer.send(dropChannel, webUtils.getPathForFile(file))
})
