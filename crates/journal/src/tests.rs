mod basics;
mod damage;
mod faults;
mod power;
mod recovery;
mod support;
mod waiting;
