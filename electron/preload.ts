import { contextBridge, ipcRenderer } from 'electron'
import type { Bridge, MainMessage } from './contract/bridge/messages.ts'
import { channel } from './shell/channel.ts'

let listener: (message: MainMessage) => void = () => undefined
ipcRenderer.on(channel, (_event, message: MainMessage) => listener(message))

const bridge: Bridge = {
  post: message => ipcRenderer.send(channel, message),
  listen(newListener) {
    listener = newListener
  },
}

contextBridge.exposeInMainWorld('berth', bridge)
