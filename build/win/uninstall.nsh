; What Berth wrote for itself goes with it: the links that lead to it, its start at login, and what starts it for a
; click on a notification. An update keeps them. Berth's folder stays, as the installer says.
!macro customUnInstall
  ${ifNot} ${isUpdated}
    DeleteRegKey HKCU "Software\Classes\berth"
    DeleteRegKey HKCU "Software\Classes\CLSID\{6F0B2C57-3D2E-4C0A-9B7C-5B8E2A1D94E3}"
    DeleteRegValue HKCU "Software\Microsoft\Windows\CurrentVersion\Run" "app.berth.Berth"
    DeleteRegValue HKCU "Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run" "app.berth.Berth"
  ${endIf}
!macroend
