module turntable/tests/history/porcupine

go 1.19

require github.com/anishathalye/porcupine v1.0.0
