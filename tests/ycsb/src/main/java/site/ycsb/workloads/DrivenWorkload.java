package site.ycsb.workloads;

import java.util.Properties;
import site.ycsb.WorkloadException;
import site.ycsb.generator.AcknowledgedCounterGenerator;
import site.ycsb.measurements.Measurements;

/** YCSB's CoreWorkload with its choosers in reach. */
final class DrivenWorkload extends CoreWorkload {
  private DrivenWorkload() {}

  static DrivenWorkload of(String distribution, long records) throws WorkloadException {
    Properties properties = new Properties();
    properties.setProperty("recordcount", Long.toString(records));
    properties.setProperty("operationcount", "1000");
    properties.setProperty("requestdistribution", distribution);
    properties.setProperty("insertproportion", "0");
    Measurements.setProperties(properties); // wanted by CoreWorkload's constructor
    DrivenWorkload workload = new DrivenWorkload();
    workload.init(properties);
    return workload;
  }

  /** The chosen key number before YCSB checks that the record exists. */
  long candidate() {
    return keychooser.nextValue().longValue();
  }

  /** The chosen key number of an existing record. */
  long keyNumber() {
    return nextKeynum();
  }

  String keyName(long keyNumber) {
    return buildKeyName(keyNumber);
  }

  /** Inserts one record: it can be read from now on. */
  long insert() {
    AcknowledgedCounterGenerator sequence = transactioninsertkeysequence;
    long number = sequence.nextValue();
    sequence.acknowledge(number);
    return sequence.lastValue();
  }
}
